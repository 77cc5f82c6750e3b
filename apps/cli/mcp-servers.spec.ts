import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readMcpServers } from './mcp-servers.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'mcp-servers-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: unknown, env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, '.mcp.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readMcpServers(file, env);
}

it('variables are replaced in env and headers only', () => {
  const headers = { Authorization: 'Bearer ${TOKEN}' };
  const mcpServers = {
    issues: { type: 'http', url: 'https://a.example/${TOKEN}', headers },
    files: { type: 'stdio', command: 'files', args: ['${TOKEN}'], env: { A: '${TOKEN}$B' } },
  };
  expect(read({ mcpServers }, { TOKEN: 'x$1' })).toEqual([
    { name: 'issues', url: 'https://a.example/${TOKEN}', headers: { Authorization: 'Bearer x$1' } },
    { name: 'files', command: 'files', args: ['${TOKEN}'], env: { A: 'x$1$B' } },
  ]);
});

it.each([
  ['{', 'is no JSON'],
  ['null', 'has no object "mcpServers"'],
  [{ mcpServers: [] }, 'has no object "mcpServers"'],
  [{ mcpServers: { a: 'x' } }, 'The server a in'],
  [{ mcpServers: { a: { type: 'sse', url: 'x' } } }, 'The server a has the type "sse"'],
  [{ mcpServers: { a: { command: 'x', env: { B: '${MISSING}' } } } }, 'MISSING is not set'],
])('a file that cannot be read is explained: %j', (content, words) => {
  expect(() => read(content)).toThrow(words);
});
