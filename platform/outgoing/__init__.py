"""Requests that the server sends to outside services: which addresses they may reach, and the client that sends them.

Knows no Django: `llm_agents` sends its calls through it too.
"""
