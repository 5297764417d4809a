from importlib import import_module

Migration = import_module("studies.migrations.0001_initial").Migration
