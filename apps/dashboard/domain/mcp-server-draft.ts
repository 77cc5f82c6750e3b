import type { components } from '#lib/api-client';

type McpServer = components['schemas']['McpServer'];

/** Reads a new MCP server from its form: an address, or a program with its arguments. */
export function toMcpServer(form: FormData): McpServer {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const name = text('name');
  const target = text('target');
  const lines = text('secrets')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const secrets = Object.fromEntries(
    lines.map((line) => {
      const [key = '', ...value] = line.split('=');
      return [key.trim(), value.join('=').trim()];
    }),
  );
  if (/^https?:\/\//.test(target)) return { name, url: target, headers: secrets };
  const [command = '', ...args] = target.split(/\s+/);
  return { name, command, args, env: secrets };
}
