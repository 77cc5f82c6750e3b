import { z } from 'zod';
import { list } from '#lib/env';
import type { MemberRole } from '#lib/kernel';

/** A group of the identity provider, and the role of its users in a workspace. */
export interface GroupRole {
  group: string;
  /** The slug. */
  workspace: string;
  role: MemberRole;
}

const FORM = /^(?<group>.+)=(?<workspace>[a-z0-9-]+):(?<role>OWNER|ADMIN|MEMBER|VIEWER)$/;
const ERROR =
  'must be groups with roles in workspaces, separated by commas: developers=default:MEMBER';

/** `group=workspace:ROLE,...` */
export const groupRoles = z.string().transform((value, context): GroupRole[] => {
  const parsed = list.parse(value).map((part) => FORM.exec(part)?.groups);
  if (parsed.every((groups) => groups !== undefined)) return parsed as unknown as GroupRole[];
  context.addIssue({ code: 'custom', message: ERROR });
  return z.NEVER;
});
