import type { FastifyReply } from 'fastify';
import type { Gateway } from '../gateway.js';
import type { SessionView } from '../sessions/domain/session.js';
import type { Spawned } from '../sessions/sessions.service.js';

/** A session, and the process of the gateway that answers. */
export function answerSession(gateway: Gateway, session: SessionView) {
  const { id, bootId, sequence } = gateway.facts();
  return { session, gateway: { id, bootId, sequence } };
}

/** 201 for a new session, 202 for a queued one, 200 for a known one. */
export function answerSpawned(reply: FastifyReply, gateway: Gateway, { session, known }: Spawned) {
  void reply.status(known ? 200 : session.status === 'QUEUED' ? 202 : 201);
  return answerSession(gateway, session);
}
