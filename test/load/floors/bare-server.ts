import { createSecretKey } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import { Redis } from 'iovalkey';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { newId } from '#lib/kernel';
import { BareQueue } from './bare-queue.js';

/**
 * The minimal cost of a heartbeat, a creation and a move to the next task on this stack: Fastify,
 * the same token verified once by jsonwebtoken and remembered, one SETEX, one INSERT or two
 * UPDATEs, an answer. No tenant, no checks, no history.
 */
const { JWT_SECRET = '', VALKEY_URL = '', DATABASE_URL = '' } = process.env;
const key = createSecretKey(Buffer.from(JWT_SECRET, 'utf8'));
const valkey = new Redis(VALKEY_URL, { enableAutoPipelining: true });
const queue = await BareQueue.create(DATABASE_URL, 20);
const remembered = new LRUCache<string, jwt.JwtPayload>({ max: 10_000 });
const app = fastify();

function verified(request: FastifyRequest, audience: string): jwt.JwtPayload {
  const token = request.headers.authorization?.slice(7) ?? '';
  const known = remembered.get(token);
  if (known?.aud === audience && (known.exp ?? 0) * 1000 > Date.now()) return known;
  const pinned = { algorithms: ['HS256' as const], issuer: 'drover', audience };
  const claims = jwt.verify(token, key, pinned) as jwt.JwtPayload;
  remembered.set(token, claims);
  return claims;
}

app.post('/heartbeat', async (request) => {
  const { sub } = verified(request, 'drover:agent');
  const { status } = request.body as { status: string };
  const now = Date.now();
  await valkey.setex(`agent:heartbeat:${sub}`, 240, JSON.stringify({ status, timestamp: now }));
  return {
    acknowledgedAt: new Date(now).toISOString(),
    nextExpectedAt: new Date(now + 30_000).toISOString(),
  };
});

await queue.pool.query(`
CREATE TABLE IF NOT EXISTS plain_tasks (
  workspace_id uuid NOT NULL,
  id uuid PRIMARY KEY,
  title text NOT NULL,
  task_type text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING',
  priority int NOT NULL,
  input_context jsonb NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now()
)`);

const INSERT = {
  name: 'insert',
  text: `INSERT INTO plain_tasks (workspace_id, id, title, task_type, priority, input_context, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING created_at`,
};

app.post('/tasks', async (request, reply) => {
  const { sub, wid } = verified(request, 'drover:user');
  const task = request.body as Record<string, unknown>;
  const { title, taskType, priority, inputContext } = task;
  const id = newId();
  const values = [wid, id, title, taskType, priority, inputContext, sub];
  const { rows } = await queue.pool.query<{ created_at: Date }>({ ...INSERT, values });
  return reply.code(201).send({ id, ...task, createdAt: rows[0]?.created_at });
});

/** Completes the agent's run, if any, and claims the next. */
app.post('/next', async (request) => {
  const { sub = '', wid } = verified(request, 'drover:agent');
  const { done, maxTasks } = request.body as { done: string[]; maxTasks: number };
  if (done.length > 0) await queue.complete(sub, done);
  return { tasks: await queue.claim(wid as string, sub, maxTasks) };
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ message: 'listening', address })}\n`);
process.once('SIGTERM', () => process.exit(0));
