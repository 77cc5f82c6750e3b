import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { Memberships } from '../access/memberships.js';
import { AuthService, type SignIn } from '../auth/auth.service.js';
import type { Origin } from '../auth/sessions.js';
import { decideGroupRoles } from '../domain/group-roles.js';
import { Attempts } from '../rate-limit/attempts.js';
import { GroupMembers } from '../workspaces/group-members.js';
import { ExternalIdentities } from './external-identities.js';
import { toExternalIdentity } from './external-token.js';
import { Provider, type ProviderClaims, type SignInChecks } from './provider.js';

export interface DeviceSignIn {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  /** The address with the code in it. Null if the provider gives none. */
  verificationUriComplete: string | null;
  intervalSeconds: number;
  expiresInSeconds: number;
}

export interface SingleSignIn extends SignIn {
  /** The address at which the browser also ends the session at the provider. */
  signOutUrl: string | null;
}

/** Signs users in whom the identity provider confirmed. */
@Injectable()
export class SingleSignOn {
  constructor(
    private readonly provider: Provider,
    private readonly identities: ExternalIdentities,
    private readonly memberships: Memberships,
    private readonly groups: GroupMembers,
    private readonly attempts: Attempts,
    private readonly auth: AuthService,
  ) {}

  async start(address: string): Promise<SignInChecks & { url: string }> {
    await this.attempts.toSingleSignOn(address);
    return this.provider.start();
  }

  /** @throws DroverError as `Provider.complete`, `account_disabled`, or of the account's link */
  async complete(parameters: string, checks: SignInChecks, origin: Origin): Promise<SingleSignIn> {
    await this.attempts.toSingleSignOn(origin.address);
    return this.admit(await this.provider.complete(parameters, checks), origin);
  }

  async startDevice(address: string): Promise<DeviceSignIn> {
    await this.attempts.toSingleSignOn(address);
    const answer = await this.provider.startDevice();
    return {
      deviceCode: answer.device_code,
      userCode: answer.user_code,
      verificationUri: answer.verification_uri,
      verificationUriComplete: answer.verification_uri_complete ?? null,
      intervalSeconds: answer.interval ?? 5,
      expiresInSeconds: answer.expires_in,
    };
  }

  /** @throws DroverError as `Provider.completeDevice`, `account_disabled`, or of the link */
  async completeDevice(deviceCode: string, origin: Origin): Promise<SingleSignIn> {
    await this.attempts.toPollDevice(origin.address);
    return this.admit(await this.provider.completeDevice(deviceCode), origin);
  }

  private async admit(claims: ProviderClaims, origin: Origin): Promise<SingleSignIn> {
    const { issuer, groupRoles, groupsClaim } = this.provider.required();
    const identity = toExternalIdentity(claims);
    if (identity === undefined) throw new DroverError('sign_in_refused');
    const roles = decideGroupRoles(groupsOf(claims, groupsClaim), groupRoles);
    const isInGroup = [...roles.values()].some((role) => role !== undefined);
    const { userId, identityId } = await this.identities.userOf(issuer, identity, isInGroup);
    if ((await this.memberships.isOperator(userId)) === undefined) {
      throw new DroverError('account_disabled');
    }
    await this.groups.follow(userId, roles);
    const start = this.auth.start(userId, origin, { identityId });
    const signIn = await start.catch((error: unknown) => {
      const isDisabled = error instanceof DroverError && error.code === 'invalid_credentials';
      throw isDisabled ? new DroverError('account_disabled', { cause: error }) : error;
    });
    const signOutUrl = await this.provider.signOutUrl().catch(() => null);
    return { ...signIn, signOutUrl };
  }
}

/**
 * No claim means no groups, because many providers omit an empty list. A provider that only refers
 * to the groups elsewhere (`_claim_names`) must not remove all memberships.
 *
 * @throws DroverError `sign_in_refused`
 */
function groupsOf(claims: ProviderClaims, name: string): string[] {
  const groups = claims[name];
  const elsewhere = claims['_claim_names'] as Record<string, unknown> | undefined;
  if (groups === undefined && elsewhere?.[name] !== undefined) {
    const detail = 'You have too many groups: the identity provider did not send them.';
    throw new DroverError('sign_in_refused', { detail });
  }
  const list = Array.isArray(groups) ? groups : [groups];
  return list.filter((group) => typeof group === 'string');
}
