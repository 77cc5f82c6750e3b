import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there. */

const page = readPage('budgets.md');
const pg = import.meta.resolve('pg');

/** A stand-in for the Postgres client. It prints rows without a frame, like `psql -At`. */
const PSQL = `#!${process.execPath}
import pg from '${pg}';
import { text } from 'node:stream/consumers';
const [connectionString, , variable] = process.argv.slice(2);
const [name, value] = variable.split('=');
const client = new pg.Client({ connectionString });
await client.connect();
const sql = (await text(process.stdin)).replaceAll(":'" + name + "'", client.escapeLiteral(value));
const { rows } = await client.query({ text: sql, rowMode: 'array' });
for (const row of rows) console.log(row.join('|'));
await client.end();
`;

let app: TestServer;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  app = await sharedServer();
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  await furnishHome(app, home, 'ADMIN');
  mkdirSync(join(home, 'server-secrets'));
  writeFileSync(join(home, 'server-secrets/DATABASE_SERVICE_URL'), app.db.serviceUrl);
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/package.json'), '{"type": "module"}');
  writeFileSync(join(home, 'bin/psql'), PSQL);
  chmodSync(join(home, 'bin/psql'), 0o755);
  pasted = await paste(page, home, { PATH: `${join(home, 'bin')}:${process.env['PATH']}` });
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("the page's lines have the described effect, except for the shown refusal", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  const refused = pasted.requests.filter((line) => /^[45]\d\d /.test(line));
  expect(refused).toEqual([expect.stringMatching(/^409 .*\/usage$/)]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed.length).toBeGreaterThan(7);
  let rest = pasted.output;
  for (const value of printed) {
    expect(rest).toContain(`${value}\n`);
    rest = rest.slice(rest.indexOf(`${value}\n`) + value.length);
  }
});

it('the page shows answers as the server gives them', () => {
  const answers = pasted.output.split(/\n|(?<=\})(?=\{)/).flatMap(parsed);
  // The last output belongs to a task that is slowed down, which takes the coordinator a minute.
  const shown = [...page.matchAll(/```json\n([^]*?)```/g)].flatMap(([, json = '']) => parsed(json));
  const ofLines = shown.filter((each) => !('recommendation' in each));
  expect(ofLines).toHaveLength(6);
  for (const each of ofLines)
    expect(answers).toContainEqual(expect.objectContaining(partsOf(each)));
});

it('the rows on the page explain the numbers of the budget', () => {
  expect(pasted.output).toContain('Page 3 50000\nPage 2 10000\nPage 1 8500\n');
  expect(pasted.output).toContain('50000|68500|0|-18500|true|true|true\n');
});

function parsed(text: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(text) as Record<string, unknown>];
  } catch {
    return [];
  }
}

/** The page also shows parts of nested objects. */
function partsOf(shown: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(shown).map(([name, value]) =>
    name === 'budgets'
      ? [name, [expect.objectContaining((value as object[])[0] ?? {})]]
      : [name, value],
  );
  return Object.fromEntries(entries) as Record<string, unknown>;
}
