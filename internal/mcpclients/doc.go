// Package mcpclients holds the tests that drive the built program with MCP clients which are not ours: the
// command line of the MCP Inspector, mcpdo, the official Go SDK and the official conformance suite. They
// show that the server speaks the protocol, and not merely the form of it that its own tests know.
//
// It has no code of its own, and all of it is part of the full run. The versions of the clients are pinned below
// testdata; `make mcp-clients` installs them below bin, and $SALLYPORT_TEST_MCP_CLIENTS names another place.
// Where they are absent the tests are left out.
package mcpclients
