import { readFileSync } from 'node:fs';
import type { Commands } from '../command.js';
import { misuse } from '../failure.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];
/** Any path, as a person types it: the types of the paths are of no use here. */
type AnyCall = (path: string, init: object) => Promise<unknown>;

const commands: Commands = {
  api: {
    usage: 'api <method> <path>',
    summary: 'Send any request of the API, and print its answer as JSON',
    about: 'Paths begin below /api/v1, or are whole. /docs of a server has them all.',
    options: [
      ['--field <name=value...>', 'a field of the body; JSON where it is any, else text'],
      ['--input <path>', 'a file with the body, - for standard input'],
    ],
    examples: [
      'api GET /agent-tasks?limit=1',
      'api POST /agent-tasks --field title=Hello taskType=demo priority=9',
    ],
    run: async (cli, [given = '', path = ''], flags) => {
      const method = given.toLowerCase() as Method;
      if (!METHODS.includes(method)) throw misuse(`${given} is no method: ${METHODS.join(', ')}.`);
      const whole = path.startsWith('/api/') ? path : `/api/v1/${path.replace(/^\//, '')}`;
      const body = bodyOf(flags.text('input'), flags.pairs('field'));
      const call = cli.drover[method] as unknown as AnyCall;
      cli.out.value(await call(whole, body === undefined ? {} : { body }));
    },
  },
};

export default commands;

function bodyOf(path: string | undefined, fields: Record<string, string> | undefined): unknown {
  if (path !== undefined) {
    const text = readFileSync(path === '-' ? 0 : path, 'utf8');
    try {
      return JSON.parse(text);
    } catch (error) {
      throw misuse(`${path} is not JSON: ${(error as Error).message}.`);
    }
  }
  if (fields === undefined) return undefined;
  const entries = Object.entries(fields).map(([name, value]) => [name, valueOf(value)]);
  return Object.fromEntries(entries);
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
