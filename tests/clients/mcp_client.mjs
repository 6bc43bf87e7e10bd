// Drives Toolyard with the official TypeScript SDK and prints what it saw, as JSON.
// Usage: mcp_client.mjs NODE_MODULES TARGET..., where TARGET is an address or a command.

import { createRequire } from "node:module";

const [modules, ...target] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const seen = { progress: [], asked: [], changes: 0 };
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(types.ElicitRequestSchema, async (request) => {
  seen.asked.push(request.params.message);
  return { action: "accept", content: { name: "Ada" } };
});
client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => {
  seen.changes += 1;
});
const transport =
  target.length === 1
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1) });
await client.connect(transport);
const call = (name, args = {}, options = undefined) =>
  client.callTool({ name: `asking__${name}`, arguments: args }, undefined, options);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
seen.resource = (await client.readResource({ uri: "asking://notes" })).contents[0].text;
seen.echo = (await call("echo", { words: "你好" })).content[0].text;
await call("steps", {}, { onprogress: ({ progress, total, message }) => seen.progress.push([progress, total, message]) });
seen.answer = JSON.parse((await call("ask")).content[0].text);
const until = async (count) => {
  for (let tries = 0; tries < 100 && seen.cancelled !== count; tries += 1) {
    seen.cancelled = (await call("cancelled")).content[0].text;
    await pause(100);
  }
};
const stop = new AbortController();
const slow = call("slow", {}, { signal: stop.signal }).catch((error) => String(error));
await until("0 of 1");
stop.abort("enough");
await slow;
await until("1 of 1");
await call("more");
for (let tries = 0; tries < 50 && seen.changes === 0; tries += 1) {
  await pause(100);
}
await client.close();
console.log(JSON.stringify(seen));
