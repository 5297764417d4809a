"""What the editor of plans says (static/parley/plan)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _


def words() -> dict[str, Any]:
    """Return the editor's words by key; {name} stands for a value."""
    return {
        **_actions(),
        **_varying(),
        **_parts(),
        **_states(),
        "sections": {
            "study": _("Title and time"),
            "agents": _("Agents"),
            "pay": _("Pay"),
            "told": _("Disclosure"),
            "checks": _("Data quality"),
            "entry": _("Entry"),
            "cells": _("Cells and assignment"),
            "analysis": _("Analysis"),
        },
        "units": {"seconds": _("seconds")},
        "choices": {
            "as timeout": _("as when the time is up"),
            "at once": _("at once"),
            "agents": _("agents fill the seats"),
            "fewer": _("play with fewer"),
            "leave": _("the study ends for them"),
        },
        "endings": {
            "failed_comprehension": _("Failed the questions about the rules"),
            "failed_quiz": _("Failed the quiz"),
            "opponent_failed": _("The opponent failed"),
            "our_outage": _("Our outage"),
            "partner_left": _("A partner left"),
            "no_partner": _("No partner came"),
            "replaced": _("Replaced after a time-out"),
            "screened_out": _("Screened out"),
            "failed_code_word": _("Failed the code word"),
            "timed_out": _("Timed out"),
            "dropped_out": _("Dropped out"),
            "withdrew": _("Withdrew"),
        },
        "pays": {
            "nothing": _("nothing"),
            "base": _("base pay"),
            "base_after_half": _("base pay once half was played"),
            "base_and_average": _("base pay and the average bonus"),
            "base_and_bonus": _("base pay and bonus"),
        },
    }


def _actions() -> dict[str, str]:
    return {
        "add": _("Add: {what}"),
        "remove": _("Remove: {what}"),
        "copy": _("Copy: {what}"),
        "move_up": _("Move up: {what}"),
        "move_down": _("Move down: {what}"),
        "cancel": _("Cancel"),
        "close": _("Close"),
        "entry": _("Entry"),
        "row": _("row"),
        "column": _("column"),
        "name_of": _("Name in {what}"),
        "with": _("With: {label}"),
        "write_own": _("Write your own"),
        "use_default": _("Use Parley's text again"),
        "add_stage": _("Add a stage"),
        "add_agent": _("Add an agent"),
        "add_agent_here": _("Add an agent…"),
        "new_agent": _("a new agent…"),
        "name_seat": _("Name one more seat"),
        "add_level": _("Add"),
        "new_level": _("New level"),
        "remove_factor": _("Remove this factor"),
    }


def _varying() -> dict[str, str]:
    return {
        "vary": _("Vary by…"),
        "varied_label": _("{label} depends on {factor}"),
        "same_for_all": _("Same for all"),
        "open_factor": _("Open this factor"),
        "depends_on": _("depends on {factor}"),
        "level_itself": _("The level of {factor} itself: {levels}"),
        "level_part": _("From {factor}: its {part}"),
        "vary_title": _("What does “{label}” depend on?"),
        "vary_now": _("Vary"),
        "factor": _("Factor"),
        "new_factor": _("a new factor"),
        "factor_name": _("Name of the factor"),
        "factor_name_help": _("Your own word, such as wording. Participants never see it."),
        "levels": _("Levels"),
        "levels_help": _("At least two, with commas between them."),
        "levels_example": _("give, take"),
        "levels_number": _("{number} levels"),
        "level_number": _("Level {number}"),
        "who_meets": _("Who meets the levels"),
        "between": _("each participant meets one (between participants)"),
        "within": _("each participant meets all in “{block}” (within participants)"),
        "itself": _("The levels are the values themselves"),
        "bad_name": _(
            "A name starts with a lower-case letter and has only lower-case letters, digits and underscores."
        ),
        "taken_name": _("“{name}” is already the name of something, or has a meaning of its own."),
        "two_levels": _("Please enter at least two levels."),
        "level_twice": _("Every level needs a name of its own."),
        "no_factor": _("This factor no longer exists."),
        "used_at": _("Used at"),
        "unused": _("Nothing depends on it yet. Press “Vary by…” at what should."),
        "by": _("by"),
        "game": _("Game"),
        "rows_from": _("Published rows"),
        "table": _("table"),
        "selection": _("selection for people"),
        "seed": _("Seed"),
        "rows_number": _("{number} rows"),
    }


def _parts() -> dict[str, str]:
    return {
        "journey": _("Journey"),
        "factors": _("Factors"),
        "settings": _("Settings"),
        "no_factors": _("None yet. Press “Vary by…” at any value to make it a treatment."),
        "short_name": _("Short name"),
        "short_name_help": _("In the links for participants and on the command line."),
        "short_name_fixed": _("In the links for participants. It stays once the study is launched."),
        "name": _("Name"),
        "block_help": _(
            "Select this block and add stages to it, or move stages into it. A factor within participants is played "
            "here, level by level."
        ),
        "unknown_stage": _("This kind of stage is not known here."),
        "agents_help": _("Models and scripted players, by names of your choice. Give them seats in the games."),
        "played_by": _("Played by"),
        "script": _("Script"),
        "scripts": _("Scripted players: free, no key needed"),
        "models": _("Language models at"),
        "model_help": _("Choose from the list, or enter the name exactly as the endpoint uses it."),
        "how_asked": _("How it is asked"),
        "participant": _("a participant"),
        "one_of": _("one of several agents, drawn for each match"),
        "other_seats": _("All other seats"),
        "seat": _("Seat {number}"),
        "points_of": _("Points: {seat}"),
        "choose_game": _("Choose a game first."),
        "default_text": _("Parley's own text, made from your settings."),
        "default_questions": _("the game's own questions"),
        "own_questions": _("your own questions"),
        "one_per_line": _("one per line"),
        "more": _("More: conditions and small print"),
        "which_cells": _("Which combinations"),
        "crossed": _("all combinations of levels"),
        "listed": _("only the listed cells"),
        "as_rows": _("quotas from the rows of {factor}"),
        "of_cell": _("{what} of cell {number}"),
        "cell": _("Cell"),
        "cells": _("Cells"),
        "quota": _("Quota"),
        "weight": _("Weight"),
        "minutes": _("Minutes"),
        "pay": _("Pay"),
        "only_cell": _("everyone"),
        "more_cells": _("and {number} more"),
        "cells_after_faults": _("Shown when nothing is left to correct."),
        "analysis_help": _("Planned analyses are part of the study's file, and not of its version."),
        "no_hypotheses": _("No hypotheses yet. Add them to the study's file."),
    }


def _states() -> dict[str, str]:
    return {
        "yes": _("yes"),
        "no": _("no"),
        "none": _("none"),
        "always": _("always"),
        "empty": _("Nothing here yet."),
        "unknown": _("{name} (not in the list)"),
        "as_usual": _("as usual"),
        "changed": _("{number} changed"),
        "taken_label": _("Another agent has this name."),
        "unsaved": _("Unsaved changes"),
        "saved": _("Saved"),
        "saving": _("Saving…"),
        "not_saved": _("Not saved: the server did not answer. Your changes are still here; try again."),
        "no_check": _("The server does not answer. Your changes are still here."),
        "to_correct": _("to correct"),
        "one_fault": _("1 thing to correct before launching"),
        "faults": _("{number} things to correct before launching"),
        "meanwhile": _("{by} saved this study while you were editing"),
        "choose_sides": _("You both changed these values. Choose for each; nothing is saved before you do."),
        "no_conflict": _("You changed different things. Both are kept."),
        "their_changes": _("Taken over from them: {number}"),
        "yours": _("Yours"),
        "theirs": _("Theirs"),
        "back_to_editing": _("Back to editing"),
        "save_merged": _("Save the result"),
        "save_first": _("Save your changes first; then press the button again."),
        "copied": _("Copied"),
        "file_read": _("The file is open in the editor. Save to keep it."),
        "file_refused": _("The file was not read"),
        "new_version": _("Changed: launching makes a new version"),
        "same_version": _("Changed: no new version needed"),
    }
