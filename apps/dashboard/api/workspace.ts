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

const STORAGE_KEY = 'drover.workspace';
const ROLES: Role[] = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];
/** The time limit of one request in milliseconds. After it the page shows an error. */
const TIMEOUT_MS = 15_000;

/** The client for requests that belong to no workspace. */
export const accountApi = createClient({
  baseUrl: location.origin,
  credentials: session,
  timeoutMs: TIMEOUT_MS,
  retries: 1,
});

export interface Workspace extends Membership {
  api: DroverClient;
  /** Options for opening streams of this workspace. */
  stream: StreamOptions;
  user: Profile['user'];
  memberships: Membership[];
  /** Whether the user has this role or a higher one in this workspace. */
  may(role: Role): boolean;
  switchTo(workspaceId: string): void;
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error('This component needs a WorkspaceContext');
  return workspace;
}

/** Returns the last workspace of this tab, else of any tab, else the first membership. */
export function chooseMembership(memberships: Membership[]): Membership | undefined {
  const stored = [sessionStorage.getItem(STORAGE_KEY), localStorage.getItem(STORAGE_KEY)];
  const known = stored.map((id) => memberships.find(({ workspaceId }) => workspaceId === id));
  return known.find((membership) => membership !== undefined) ?? memberships[0];
}

export function storeChoice(workspaceId: string): void {
  sessionStorage.setItem(STORAGE_KEY, workspaceId);
  localStorage.setItem(STORAGE_KEY, workspaceId);
}

export function toWorkspace(
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
