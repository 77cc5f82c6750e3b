/* A server of one tool (MCP) over stdio. Its greeting is in its environment. */
import { createInterface } from 'node:readline';

const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'greeter', version: '1' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'greet', description: 'Greets a person.', inputSchema: schema }],
  }),
  'tools/call': ({ arguments: { name } }) => ({
    content: [
      {
        type: 'text',
        text: `${process.env.GREETING}, "${name}"${process.env.MARK} ${process.argv.at(-1)}`,
      },
    ],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = METHODS[method];
  const outcome = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: `unknown method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
}
