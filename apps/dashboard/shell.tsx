import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useMemo, useState, useSyncExternalStore } from 'react';
import { Live, useLive } from './api/live.js';
import { session } from './api/session.js';
import {
  accountApi,
  chosenOf,
  keepChoice,
  useWorkspace,
  WorkspaceContext,
  workspaceOf,
  type Profile,
} from './api/workspace.js';
import { Brand } from './components/brand.js';
import { Icon } from './components/icons.js';
import { Button, Empty, Failure } from './components/parts.js';
import { OwnInvitations } from './components/own-invitations.js';
import { ThemeSwitch } from './components/theme.js';
import { SignInPage } from './pages/sign-in.js';

const LINKS = [
  { to: '/', name: 'Overview', icon: 'overview' },
  { to: '/tasks', name: 'Tasks', icon: 'tasks' },
  { to: '/agents', name: 'Agents', icon: 'agents' },
  { to: '/questions', name: 'Questions', icon: 'questions' },
  { to: '/budgets', name: 'Budgets', icon: 'budgets' },
  { to: '/coordinator', name: 'Coordinator', icon: 'coordinator' },
  { to: '/webhooks', name: 'Webhooks', icon: 'webhooks' },
  { to: '/settings', name: 'Settings', icon: 'settings' },
  { to: '/audit', name: 'Audit', icon: 'audit' },
] as const;

/** What is around every page: who is signed in, in which workspace. */
export function Shell() {
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  if (state === 'restoring') return <div className="state">Signing in …</div>;
  if (state === 'signed-out') return <SignInPage />;
  return <SignedIn />;
}

function SignedIn() {
  const profile = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => accountApi.get('/api/v1/auth/me', { signal }),
    refetchInterval: ({ state }) => (state.data === undefined ? 3_000 : 60_000),
  });
  if (profile.data !== undefined) return <InWorkspace profile={profile.data} />;
  if (profile.error) return <Failure error={profile.error} retry={() => void profile.refetch()} />;
  return (
    <div className="state" aria-busy="true">
      Loading …
    </div>
  );
}

function InWorkspace({ profile }: { profile: Profile }) {
  const [chosen, setChosen] = useState(() => chosenOf(profile.memberships)?.workspaceId);
  const router = useRouter();
  const membership =
    profile.memberships.find(({ workspaceId }) => workspaceId === chosen) ?? profile.memberships[0];
  const workspace = useMemo(
    () =>
      membership &&
      workspaceOf(profile, membership, (id) => {
        keepChoice(id);
        setChosen(id);
        // What was open belongs to the workspace before.
        void router.navigate({ to: '/' });
      }),
    [profile, membership, router],
  );
  if (workspace === undefined) return <NoWorkspace />;
  return (
    <WorkspaceContext value={workspace}>
      <Live key={workspace.workspaceId}>
        <a href="#main" className="skip">
          Skip to the page
        </a>
        <div className="shell">
          <Sidebar />
          <main className="main" id="main" tabIndex={-1}>
            <Connection />
            <Suspense fallback={<div className="state">Loading …</div>}>
              <Outlet />
            </Suspense>
          </main>
        </div>
      </Live>
    </WorkspaceContext>
  );
}

function NoWorkspace() {
  return (
    <Empty title="You are in no workspace">
      <p>Ask an admin of a workspace to invite you. An invitation appears here by itself.</p>
      <OwnInvitations />
      <Button onClick={() => void session.signOut()}>Sign out</Button>
    </Empty>
  );
}

function Sidebar() {
  const { user, memberships, workspaceId, switchTo } = useWorkspace();
  return (
    <header className="sidebar">
      <Brand />
      <label>
        <span className="unseen">Workspace</span>
        <select
          className="input"
          value={workspaceId}
          onChange={(event) => switchTo(event.target.value)}
        >
          {memberships.map((membership) => (
            <option key={membership.workspaceId} value={membership.workspaceId}>
              {membership.name}
            </option>
          ))}
        </select>
      </label>
      <nav aria-label="Pages">
        <ul>
          {LINKS.map(({ to, name, icon }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                <Icon name={icon} />
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="sidebar-end">
        <span className="clip muted who" title={user.email}>
          {user.email}
        </span>
        <div className="row">
          <Button look="quiet" onClick={() => void session.signOut()}>
            <Icon name="exit" /> Sign out
          </Button>
          <ThemeSwitch />
        </div>
      </div>
    </header>
  );
}

/** Says when what is shown may be old. */
function Connection() {
  const state = useLive();
  return (
    <div role="status">
      {state === 'away' && (
        <p className="banner patient">
          The server cannot be reached. What you see may be old; this page goes on by itself when it
          is back.
        </p>
      )}
    </div>
  );
}
