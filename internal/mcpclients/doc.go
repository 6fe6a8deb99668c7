// Package mcpclients holds the tests that drive the built programs with MCP clients which are not ours: the
// command line of the MCP Inspector, mcpdo, the official Go SDK and the official conformance suite. They
// show that the server speaks the protocol, and not merely the form of it that its own tests know.
//
// It also drives the real Claude Code, Codex and Gemini CLI with a scripted model, to show that they obey the
// installed hook, with the two programs and the resident process of an installation.
//
// It has no code of its own, and all of it is part of the full run. The versions of the clients are pinned
// below testdata; `make mcp-clients` installs them below bin, and $SALLYPORT_TEST_MCP_CLIENTS names another
// place. Where they are absent the tests are left out.
package mcpclients
