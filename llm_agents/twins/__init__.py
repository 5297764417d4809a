"""Stand-ins for the providers that speak their real protocols over a real socket, with scripted answers."""

from llm_agents.twins.server import AnthropicTwin, Failure, Hang, Malformed, OpenAITwin, Twin

__all__ = ["AnthropicTwin", "Failure", "Hang", "Malformed", "OpenAITwin", "Twin"]
