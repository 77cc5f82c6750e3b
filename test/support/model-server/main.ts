import { readFileSync } from 'node:fs';
import type { Turn } from './script.js';
import { startModelServer } from './model-server.js';

/** `node dist/test/support/model-server/main.js PORT [SCRIPT.json]`: serves until it is ended. */
const [port = '0', file] = process.argv.slice(2);
const script = file ? (JSON.parse(readFileSync(file, 'utf8')) as Turn[]) : [];
const server = await startModelServer(script, Number(port));
process.stdout.write(`${server.url}\n`);
