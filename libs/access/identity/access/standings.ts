import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { Revocations } from '../tokens/revocations.js';
import { Authenticator } from './authenticator.js';
import type { AuthenticatedRequest } from './decorators.js';
import { Memberships } from './memberships.js';

/**
 * The conditions under which an admitted caller stays admitted. Answers that last for hours check
 * them again.
 */
export interface Standing {
  /** The expiry of the credentials, in milliseconds since 1970. Undefined if only `check` knows. */
  endsAt: number | undefined;
  /**
   * Applies the checks of a new request, except for rate limits.
   *
   * @throws DroverError as for such a request
   */
  check(): Promise<void>;
}

/** Creates the standing of requests that the guard has admitted. */
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

  /** Calls back when a standing may have ended. @returns removes the listener */
  onChange(listener: () => void): () => void {
    return this.revocations.onRevoked(listener);
  }
}
