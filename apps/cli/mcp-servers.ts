import { readFileSync } from 'node:fs';
import type { components } from '#lib/api-client';
import { usageError } from './failure.js';

type NewMcpServer = components['schemas']['NewMcpServer'];

const FORM = 'Write {"mcpServers": {"NAME": {"command": "…"}, "OTHER": {"url": "…"}}}.';

/**
 * Reads a file like the `.mcp.json` of coding agents. `${NAME}` in variables and headers is the value of
 * the local variable, so that no file needs a secret.
 *
 * @throws Failure if the file is malformed, or a variable is not set
 */
export function readMcpServers(file: string, env: NodeJS.ProcessEnv): NewMcpServer[] {
  const { mcpServers } = parse(file) as { mcpServers?: unknown };
  if (!isObject(mcpServers)) throw usageError(`${file} has no object "mcpServers".`, FORM);
  return Object.entries(mcpServers).map(([name, server]) => {
    if (!isObject(server)) throw usageError(`The server ${name} in ${file} is no object.`, FORM);
    const { type, ...fields } = server;
    if (type !== undefined && type !== 'stdio' && type !== 'http') {
      const known = 'Drover knows the types stdio and http.';
      throw usageError(`The server ${name} has the type ${JSON.stringify(type)}.`, known);
    }
    const expanded = ['env', 'headers']
      .filter((field) => isObject(fields[field]))
      .map((field) => [field, expand(fields[field] as object, env)]);
    return { ...fields, ...Object.fromEntries(expanded), name } as NewMcpServer;
  });
}

function parse(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text) ?? {};
  } catch {
    throw usageError(`${file} is no JSON.`, FORM);
  }
}

function expand(values: object, env: NodeJS.ProcessEnv): object {
  const expanded = Object.entries(values).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? expandText(value, env) : value,
  ]);
  return Object.fromEntries(expanded) as object;
}

function expandText(text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw usageError(`The variable ${name} is not set.`, `Set it: export ${name}=…`);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
