import { Injectable } from '@nestjs/common';
import { requireSelf } from '#lib/agent-manager';
import type { Caller } from '#lib/kernel';
import { type ClaimAnswer, ClaimService } from './claim.service.js';
import type { Heard } from '../messages/run-messages.js';
import { Signals, type SignalsAnswer } from '../signals/signals.js';

/** Requests of an agent for itself, with its own token. */
@Injectable()
export class AgentWork {
  constructor(
    private readonly claiming: ClaimService,
    private readonly signalling: Signals,
  ) {}

  async claim(
    caller: Caller,
    agentId: string,
    request: { maxTasks?: number; taskId?: string; waitMs?: number; leaseSeconds?: number },
    gone: AbortSignal,
  ): Promise<ClaimAnswer> {
    const agent = requireSelf(caller, agentId);
    const { maxTasks = 1, waitMs = 0, leaseSeconds } = request;
    const taskId = request.taskId?.toLowerCase();
    return this.claiming.claim({ agent, maxTasks, taskId, waitMs, leaseSeconds }, gone);
  }

  signals(
    caller: Caller,
    agentId: string,
    request: { runIds?: string[]; heard?: Heard[]; waitMs?: number },
    gone: AbortSignal,
  ): Promise<SignalsAnswer> {
    const agent = requireSelf(caller, agentId);
    const { runIds, waitMs = 0 } = request;
    const heard = request.heard?.map((one) => ({ ...one, runId: one.runId.toLowerCase() }));
    return this.signalling.wait({ agent, runIds, heard, waitMs }, gone);
  }
}
