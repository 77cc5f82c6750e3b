import { createContext, useContext } from 'react';
import {
  createClient,
  type components,
  type DroverClient,
  type StreamOptions,
} from '#lib/api-client';
import { session } from './session.js';

export type Profile = components['schemas']['Profile'];
export type Membership = components['schemas']['Membership'];
export type Role = Membership['role'];

const KEPT = 'drover.workspace';
const ROLES: Role[] = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];
/** So long may one try take, in milliseconds: a page that waits longer says what is wrong. */
const TIMEOUT_MS = 15_000;

/** Of requests that belong to no workspace. */
export const accountApi = createClient({
  baseUrl: location.origin,
  credentials: session,
  timeoutMs: TIMEOUT_MS,
  retries: 1,
});

export interface Workspace extends Membership {
  api: DroverClient;
  /** What streams of this workspace are opened with. */
  stream: StreamOptions;
  user: Profile['user'];
  memberships: Membership[];
  /** Whether the user has this role here, or one above it. */
  may(role: Role): boolean;
  switchTo(workspaceId: string): void;
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error('No workspace around this component');
  return workspace;
}

/** The workspace that this tab has shown last, else any tab, else the first. */
export function chosenOf(memberships: Membership[]): Membership | undefined {
  const kept = [sessionStorage.getItem(KEPT), localStorage.getItem(KEPT)];
  const known = kept.map((id) => memberships.find(({ workspaceId }) => workspaceId === id));
  return known.find((membership) => membership !== undefined) ?? memberships[0];
}

export function keepChoice(workspaceId: string): void {
  sessionStorage.setItem(KEPT, workspaceId);
  localStorage.setItem(KEPT, workspaceId);
}

export function workspaceOf(
  { user, memberships }: Profile,
  membership: Membership,
  switchTo: (workspaceId: string) => void,
): Workspace {
  const { workspaceId, role } = membership;
  return {
    ...membership,
    user,
    memberships,
    api: accountApi.with({ workspaceId }),
    stream: { baseUrl: location.origin, credentials: session, workspaceId },
    may: (least) => ROLES.indexOf(role) >= ROLES.indexOf(least),
    switchTo,
  };
}
