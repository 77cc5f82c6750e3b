import { isIP } from 'node:net';
import { z } from 'zod';
import { list } from '#lib/env';
import type { MemberRole } from '#lib/kernel';

const ERROR =
  'must be the addresses or networks of the proxies before us, separated by commas: ' +
  '10.0.0.1, fd00::/8';

/**
 * The proxies that the server trusts about a client's address; `false` means none. It never accepts
 * all proxies or a number of hops: a client that connects directly could then choose its address,
 * and no limit by address would hold.
 */
export const trustedProxies = z.string().transform((value, context): string[] => {
  if (value.trim() === 'false') return [];
  const networks = list.parse(value);
  if (networks.length > 0 && networks.every(isNetwork) && !networks.some(hasAll)) return networks;
  context.addIssue({ code: 'custom', message: ERROR });
  return z.NEVER;
});

/** Addresses or networks, separated by commas. `whose` completes the error message. */
export function networks(whose: string) {
  return list.refine(
    (values) => values.every(isNetwork),
    `must be the addresses or networks ${whose}, separated by commas: 127.0.0.0/8, fd00::/8`,
  );
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** A network of all addresses. As a proxy it would let everybody choose the sender's address. */
function hasAll(network: string): boolean {
  return /\/0+$/.test(network);
}

/** A group of the identity provider, and the role of its users in a workspace. */
export interface GroupRole {
  group: string;
  /** The slug. */
  workspace: string;
  role: MemberRole;
}

const GROUP_ROLE = /^(?<group>.+)=(?<workspace>[a-z0-9-]+):(?<role>OWNER|ADMIN|MEMBER|VIEWER)$/;
const GROUP_ROLE_ERROR =
  'must be groups with roles in workspaces, separated by commas: developers=default:MEMBER';

/** `group=workspace:ROLE,...` */
export const groupRoles = z.string().transform((value, context): GroupRole[] => {
  const parsed = list.parse(value).map((part) => GROUP_ROLE.exec(part)?.groups);
  if (parsed.every((groups) => groups !== undefined)) return parsed as unknown as GroupRole[];
  context.addIssue({ code: 'custom', message: GROUP_ROLE_ERROR });
  return z.NEVER;
});
