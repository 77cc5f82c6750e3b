import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { Revocations } from '../tokens/revocations.js';
import { Authenticator } from './authenticator.js';
import type { AuthenticatedRequest } from './decorators.js';
import { Memberships } from './memberships.js';

/** What lets somebody stay who was admitted: answers that go on for hours ask it again. */
export interface Standing {
  /** When the credentials end, in milliseconds since 1970; undefined where only `check` knows. */
  endsAt: number | undefined;
  /**
   * Asks what a new request would be asked, the limits of requests aside.
   *
   * @throws DroverError as for such a request
   */
  check(): Promise<void>;
}

/** Makes the standing of requests that the guard has admitted. */
@Injectable()
export class Standings {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly memberships: Memberships,
    private readonly revocations: Revocations,
  ) {}

  of({ headers, caller, ticket }: AuthenticatedRequest): Standing {
    if (!caller) throw new Error('The request was not admitted');
    const { authorization } = headers;
    const endsAt = ticket?.endsAt ?? this.authenticator.endOf(authorization);
    const check = async (): Promise<void> => {
      if (endsAt !== undefined && endsAt <= Date.now()) throw new DroverError('token_expired');
      if (ticket) this.revocations.refuse(ticket.claims);
      else await this.authenticator.authenticate(authorization);
      if (caller.kind !== 'user') return;
      const role = await this.memberships.roleOf(caller.userId, caller.workspaceId);
      if (role === undefined) throw new DroverError('workspace_not_found');
    };
    return { endsAt, check };
  }

  /** Calls back when somebody's standing may have ended. @returns takes the listener off again */
  onChange(listener: () => void): () => void {
    return this.revocations.onRevoked(listener);
  }
}
