// Package audit keeps the record of every decision and what came of it: an append-only file of
// JSON lines, each linked to the one before it by a hash, with signed checkpoints over the whole.
//
// Its purpose:
//
//   - A record is durable before [Log.Record] returns nil, so that the gate can refuse to run what
//     is not recorded.
//   - Secrets are replaced before a record is hashed and written ([Redactor]).
//   - [Verify] finds any record that was changed, removed, added or moved, as far as a checkpoint
//     reaches; [Read] and [Follow] query the log.
//
// Its limit: it does not keep an attacker who has the rights of the writing user from
// rewriting log and signature together. Only a checkpoint kept elsewhere shows that
// (docs/audit-log.md, "Limits"). It is no store of command output: counts and hashes
// of output are recorded, never the output itself.
package audit
