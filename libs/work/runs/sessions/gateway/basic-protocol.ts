import { z } from 'zod';
import type { SpawnRequest, SpawnResult } from '../domain/spawn.js';
import { BASIC_GATEWAY } from '../store/note-basic-gateway.sql.js';

/** The body of the spawn request: all that a gateway of the basic protocol must understand. */
export interface BasicSpawnRequest {
  workspaceId: string;
  agentId: string;
  taskId: string;
  label: string;
  context: {
    taskTitle: string;
    taskDescription: string | null;
    /**
     * The task's context, with the session's reporting facts under `drover`. A gateway passes it on
     * unread.
     */
    inputContext: Record<string, unknown>;
    checkpointData: unknown;
  };
}

export interface BasicAnswer {
  status: number;
  body: unknown;
  retryAfterMs: number | undefined;
}

const answer = z.object({ session: z.object({ sessionKey: z.string().min(1).max(255) }) });
const problem = z.object({ title: z.string().optional(), detail: z.string().optional() });

export function toBasicRequest(spawn: SpawnRequest): BasicSpawnRequest {
  const { workspaceId, agentId, taskId, label } = spawn;
  const { answers, ...context } = spawn.context;
  const { runId, generation, runToken, apiUrl, secrets, timeoutSeconds, metadata } = spawn;
  const { model, modelTier } = metadata ?? {};
  const drover = {
    runId,
    generation,
    runToken,
    apiUrl,
    timeoutSeconds,
    ...(model !== undefined && { model, modelTier }),
    ...(secrets && { secrets }),
    ...(answers && { answers }),
  };
  const inputContext = { ...(context.inputContext as Record<string, unknown> | null), drover };
  return { workspaceId, agentId, taskId, label, context: { ...context, inputContext } };
}

/**
 * The result of a spawn. A retry would start a second session at such a gateway, so only an answer
 * that rules a session out counts as one, and every other is `unknown`. A 503 without Retry-After
 * may come from a proxy that has lost its connection.
 */
export function basicResult({ status, body, retryAfterMs }: BasicAnswer): SpawnResult {
  const message = `HTTP ${status}${wordsOf(body)}`;
  if (status >= 200 && status < 300) {
    const parsed = answer.safeParse(body);
    if (!parsed.success) return { kind: 'unknown', message: `${message}, which names no session` };
    const { sessionKey } = parsed.data.session;
    const { id, bootId } = BASIC_GATEWAY;
    const session = { id: sessionKey, sessionKey, status: 'RUNNING' };
    return { kind: 'spawned', session, gateway: { id, bootId, sequence: 0 } };
  }
  const isBusy = status === 429 || status === 401 || (status === 503 && retryAfterMs !== undefined);
  if (isBusy) return { kind: 'busy', message, retryAfterMs };
  return status >= 500 || status < 400 || status === 408
    ? { kind: 'unknown', message }
    : { kind: 'refused', message };
}

const UNDELIVERED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Whether a failed call has certainly not reached the gateway: there was no connection yet. */
export function isUndelivered(error: unknown): boolean {
  const { code = '', syscall } = error as { code?: string; syscall?: string };
  // These can also occur on an open connection.
  const isOfConnecting = syscall === 'connect' && /^E(HOST|NET)UNREACH$/.test(code);
  return UNDELIVERED.has(code) || isOfConnecting;
}

function wordsOf(body: unknown): string {
  const { title, detail } = problem.catch({}).parse(body);
  const words = detail ?? title;
  return words === undefined ? '' : `: ${words.slice(0, 500).toWellFormed()}`;
}
