import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CONFIG, type Config } from '#lib/config';
import { agentKey, DroverError, type TokenCaller } from '#lib/kernel';
import type { UserClaims } from '../domain/claims.js';
import { addressGroup } from './attempts.js';
import { type RateDecision, type RateLimit, RateLimiter, REQUEST_LIMITER } from './rate-limiter.js';

/** Short, so that a refused agent is heard again before its heartbeats are missed. */
const WINDOW_SECONDS = 10;

type Scope = 'token' | 'workspace' | 'address';

interface Policy {
  scope: Scope;
  limit: RateLimit;
  /** The header is defined in draft-ietf-httpapi-ratelimit-headers-10. */
  header: string;
}

/**
 * Limits the requests of the whole API: those of users and API keys by token and workspace, those
 * of agents and runs by token, and those without valid credentials by address. So nobody is refused
 * because of others, except users and API keys of one workspace.
 */
@Injectable()
export class RequestLimits {
  private readonly policies: Record<Scope, Policy | undefined>;

  constructor(
    @Inject(REQUEST_LIMITER) private readonly limiter: RateLimiter,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    const { token, workspace, address } = config.identity.requestsPerSecond;
    this.policies = {
      token: policyOf('token', token),
      workspace: policyOf('workspace', workspace),
      address: policyOf('address', address),
    };
  }

  /**
   * All tokens of a user count as one, because each sign-in creates another. An agent's heartbeats,
   * its other requests, and the requests with the token of each run are counted separately. So a
   * busy run cannot make its agent look dead, with a token of its own or, like a worker's, with the
   * agent's.
   *
   * @throws DroverError `rate_limited`
   */
  takeToken(
    caller: TokenCaller | UserClaims,
    reply: FastifyReply,
    { heartbeat }: { heartbeat: boolean },
  ): void {
    const isOfAgent = heartbeat && caller.kind === 'agent';
    const subject = isOfAgent ? `heartbeat:${agentKey(caller)}` : subjectOf(caller);
    this.take(this.policies.token, subject, reply);
  }

  /** For the requests of users and API keys. @throws DroverError `rate_limited` */
  takeWorkspace(workspaceId: string, reply: FastifyReply): void {
    this.take(this.policies.workspace, workspaceId, reply);
  }

  /** For requests without valid credentials. @throws DroverError `rate_limited` */
  takeAddress(address: string, reply: FastifyReply): void {
    this.take(this.policies.address, addressGroup(address), reply);
  }

  private take(policy: Policy | undefined, subject: string, reply: FastifyReply): void {
    if (policy === undefined) return;
    const decision = this.limiter.count(`${policy.scope}:${subject}`, policy.limit);
    announce(reply, policy, decision);
    if (decision.allowed) return;
    const { resetSeconds: retryAfterSeconds } = decision;
    throw new DroverError('rate_limited', {
      detail: `These are more requests than one ${policy.scope} may make in ${WINDOW_SECONDS} seconds.`,
      retryAfterSeconds,
      members: { retryAfterSeconds, 'violated-policies': [policy.scope] },
    });
  }
}

function policyOf(scope: Scope, perSecond: number): Policy | undefined {
  if (perSecond === 0) return undefined;
  const attempts = perSecond * WINDOW_SECONDS;
  const header = `"${scope}";q=${attempts};w=${WINDOW_SECONDS}`;
  return { scope, header, limit: { attempts, windowSeconds: WINDOW_SECONDS } };
}

function announce(reply: FastifyReply, { scope, header }: Policy, decision: RateDecision): void {
  const state = `"${scope}";r=${decision.remaining};t=${decision.resetSeconds}`;
  const before = reply.getHeader('ratelimit') as string | undefined;
  if (before === undefined) {
    void reply.header('ratelimit-policy', header).header('ratelimit', state);
    return;
  }
  void reply.header(
    'ratelimit-policy',
    `${String(reply.getHeader('ratelimit-policy'))}, ${header}`,
  );
  void reply.header('ratelimit', `${before}, ${state}`);
}

function subjectOf(caller: TokenCaller | UserClaims): string {
  switch (caller.kind) {
    case 'user':
      return `user:${caller.userId}`;
    case 'api_key':
      return `api_key:${caller.apiKeyId}`;
    case 'agent':
      return `agent:${agentKey(caller)}`;
    case 'run':
      return `run:${caller.runId}`;
  }
}
