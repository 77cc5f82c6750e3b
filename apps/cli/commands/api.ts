import { readFileSync } from 'node:fs';
import type { Commands } from '../command.js';
import { usageError } from '../failure.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];
/** A call with any path, because a typed path is not known at compile time. */
type AnyCall = (path: string, init: object) => Promise<unknown>;

const commands: Commands = {
  api: {
    usage: 'api <method> <path> [body]',
    summary: 'Send a request to the API and print the answer as JSON',
    about:
      'A path starts with /api/ or is relative to /api/v1. The page /docs of a server lists paths.',
    options: [
      ['--field <name=value...>', 'fields of the body, as JSON or else as text'],
      ['--input <path>', 'file with the body; - reads standard input'],
    ],
    examples: [
      'api GET /agent-tasks?limit=1',
      'api POST /agent-tasks --field title=Hello taskType=demo priority=9',
      `api POST /projects '{"name": "Website"}'`,
    ],
    run: async (cli, [word = '', path = '', json], flags) => {
      const method = word.toLowerCase() as Method;
      if (!METHODS.includes(method))
        throw usageError(`Unknown method: ${word}. Use ${METHODS.join(', ')}.`);
      const fullPath = path.startsWith('/api/') ? path : `/api/v1/${path.replace(/^\//, '')}`;
      const given = json === undefined ? undefined : parseBody(json, 'The body');
      const body = given ?? buildBody(flags.text('input'), flags.pairs('field'));
      const call = cli.drover[method] as unknown as AnyCall;
      cli.out.value(await call(fullPath, body === undefined ? {} : { body }));
    },
  },
};

export default commands;

function buildBody(path: string | undefined, fields: Record<string, string> | undefined): unknown {
  if (path !== undefined) {
    return parseBody(readFileSync(path === '-' ? 0 : path, 'utf8'), path);
  }
  if (fields === undefined) return undefined;
  const entries = Object.entries(fields).map(([name, value]) => [name, parseValue(value)]);
  return Object.fromEntries(entries);
}

function parseBody(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
