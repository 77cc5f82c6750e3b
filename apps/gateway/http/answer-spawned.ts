import type { FastifyReply } from 'fastify';
import type { Spawned } from '../sessions/sessions.service.js';

/** 201 for a new session, 202 for one that waits for its place, 200 for one that was there. */
export function answerSpawned(reply: FastifyReply, { session, known }: Spawned) {
  void reply.status(known ? 200 : session.status === 'QUEUED' ? 202 : 201);
  return { session };
}
