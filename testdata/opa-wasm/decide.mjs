// Evaluates a compiled policy by OPA's SDK for Node. Arguments: the module, a file with the document data, an
// entrypoint. Each line of stdin is an input; each line of stdout is what the entrypoint says of it.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const { loadPolicy } = createRequire(process.cwd() + "/")("@open-policy-agent/opa-wasm");
const [module, data, entrypoint] = process.argv.slice(2);
const policy = await loadPolicy(readFileSync(module), { initial: 64, maximum: 4096 });
policy.setData(JSON.parse(readFileSync(data, "utf8")));
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(policy.evaluate(JSON.parse(line), entrypoint)) + "\n");
}
