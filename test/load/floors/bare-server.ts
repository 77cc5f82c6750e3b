import { createSecretKey } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import { Redis } from 'iovalkey';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { newId } from '#lib/kernel';

/**
 * The least that a heartbeat and a creation can cost on this stack: Fastify, the same token verified
 * by jsonwebtoken, one SETEX or one INSERT, an answer. No tenant, no checks, no history.
 */
const { JWT_SECRET = '', VALKEY_URL = '', DATABASE_URL = '' } = process.env;
const key = createSecretKey(Buffer.from(JWT_SECRET, 'utf8'));
const valkey = new Redis(VALKEY_URL, { enableAutoPipelining: true });
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const app = fastify();

function verified(request: FastifyRequest, audience: string): jwt.JwtPayload {
  const token = request.headers.authorization?.slice(7) ?? '';
  const pinned = { algorithms: ['HS256' as const], issuer: 'drover', audience };
  return jwt.verify(token, key, pinned) as jwt.JwtPayload;
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
  const { rows } = await pool.query<{ created_at: Date }>({ ...INSERT, values });
  return reply.code(201).send({ id, ...task, createdAt: rows[0]?.created_at });
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ message: 'listening', address })}\n`);
process.once('SIGTERM', () => process.exit(0));
