import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps, Outlet, useLocation, useRouter } from '@tanstack/react-router';
import {
  type ComponentProps,
  lazy,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { type Attention, formatAttention, useAttention } from './api/attention.js';
import { openInvitation } from './api/invitation.js';
import { Live, useLive } from './api/live.js';
import { session } from './api/session.js';
import {
  accountApi,
  chooseMembership,
  storeChoice,
  useWorkspace,
  WorkspaceContext,
  toWorkspace,
  type Profile,
} from './api/workspace.js';
import { Brand } from './components/brand.js';
import { Icon } from './components/icons.js';
import { loadPalette } from './components/load-palette.js';
import { Button, Empty, Failure } from './components/parts.js';
import { OwnInvitations } from './components/own-invitations.js';
import { ThemeSwitch } from './components/theme.js';
import { InvitationPage } from './pages/invitation.js';
import { SignInPage } from './pages/sign-in.js';

interface MenuLink {
  to: NonNullable<LinkProps['to']>;
  name: string;
  icon: ComponentProps<typeof Icon>['name'];
  /** The counts whose sum stands beside the name. */
  counts?: (keyof Attention)[];
  adminsOnly?: boolean;
  operatorsOnly?: boolean;
}

const Palette = lazy(loadPalette);
const PauseBanner = lazy(() => import('./components/pause-banner.js'));

const LINKS: MenuLink[] = [
  { to: '/', name: 'Overview', icon: 'overview' },
  { to: '/tasks', name: 'Tasks', icon: 'tasks', counts: ['unclaimableTasks'] },
  { to: '/schedules', name: 'Schedules', icon: 'schedules', counts: ['failedSchedules'] },
  { to: '/templates', name: 'Templates', icon: 'templates' },
  { to: '/dead-letter', name: 'Dead letter', icon: 'dead-letter', counts: ['failedTasks'] },
  { to: '/agents', name: 'Agents', icon: 'agents', counts: ['silentAgents'] },
  { to: '/questions', name: 'Questions', icon: 'questions', counts: ['openQuestions'] },
  {
    to: '/reviews',
    name: 'Reviews',
    icon: 'reviews',
    counts: ['changesInReview', 'obstructedChanges'],
  },
  { to: '/repositories', name: 'Repositories', icon: 'repositories' },
  { to: '/projects', name: 'Projects', icon: 'projects' },
  { to: '/budgets', name: 'Budgets', icon: 'budgets', counts: ['usedUpBudgets', 'endingBudgets'] },
  { to: '/usage', name: 'Usage', icon: 'usage' },
  { to: '/models', name: 'Models', icon: 'models', counts: ['refusingProviders'] },
  { to: '/coordinator', name: 'Coordinator', icon: 'coordinator', adminsOnly: true },
  {
    to: '/webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    counts: ['failingWebhooks'],
    adminsOnly: true,
  },
  {
    to: '/notices',
    name: 'Notices',
    icon: 'notices',
    counts: ['failingNotices'],
    adminsOnly: true,
  },
  { to: '/inbound-hooks', name: 'Inbound hooks', icon: 'inbound-hooks', adminsOnly: true },
  { to: '/settings', name: 'Settings', icon: 'settings' },
  { to: '/audit', name: 'Audit log', icon: 'audit', adminsOnly: true },
  { to: '/users', name: 'Users', icon: 'users', operatorsOnly: true },
];

/** The frame around every page: the signed-in user and the workspace. */
export function Shell() {
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const [invitation, setInvitation] = useState(openInvitation);
  if (state === 'restoring') return <div className="state">Signing in…</div>;
  if (invitation !== undefined) {
    const close = () => setInvitation(undefined);
    return <InvitationPage token={invitation} signedIn={state === 'signed-in'} onClose={close} />;
  }
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
      Loading…
    </div>
  );
}

function InWorkspace({ profile }: { profile: Profile }) {
  const [chosen, setChosen] = useState(() => chooseMembership(profile.memberships)?.workspaceId);
  const router = useRouter();
  const membership =
    profile.memberships.find(({ workspaceId }) => workspaceId === chosen) ?? profile.memberships[0];
  const workspace = useMemo(
    () =>
      membership &&
      toWorkspace(profile, membership, (id) => {
        storeChoice(id);
        setChosen(id);
        // The open page belongs to the previous workspace.
        void router.navigate({ to: '/' });
      }),
    [profile, membership, router],
  );
  if (workspace === undefined) return <NoWorkspace />;
  return (
    <WorkspaceContext value={workspace}>
      <Live key={workspace.workspaceId}>
        <a href="#main" className="skip">
          Skip to content
        </a>
        <PaletteKey />
        <div className="shell">
          <Sidebar />
          <main className="main" id="main" tabIndex={-1}>
            <Connection />
            <Suspense>
              <PauseBanner />
            </Suspense>
            <Suspense fallback={<div className="state">Loading…</div>}>
              <Outlet />
            </Suspense>
          </main>
        </div>
      </Live>
    </WorkspaceContext>
  );
}

/** The pages that the user's role allows. */
function useLinks(): MenuLink[] {
  const { user, may } = useWorkspace();
  return LINKS.filter(
    ({ adminsOnly, operatorsOnly }) =>
      (!adminsOnly || may('ADMIN')) && (!operatorsOnly || user.isOperator),
  );
}

/** The palette, which Ctrl-K or Cmd-K opens everywhere. */
function PaletteKey() {
  const links = useLinks();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Palette pages={links} onClose={() => setOpen(false)} />
    </Suspense>
  );
}

function NoWorkspace() {
  return (
    <Empty title="You are not a member of a workspace">
      <p>Ask a workspace admin to invite you. The invitation appears here automatically.</p>
      <OwnInvitations />
      <Button onClick={() => void session.signOut()}>Sign out</Button>
    </Empty>
  );
}

function Sidebar() {
  const { user, memberships, workspaceId, switchTo } = useWorkspace();
  const { pathname } = useLocation();
  const menu = useRef<HTMLElement>(null);
  // On a phone the menu scrolls sideways.
  useEffect(() => {
    menu.current
      ?.querySelector('[aria-current=page]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  const { data: attention } = useAttention();
  const links = useLinks();
  return (
    <header className="sidebar">
      <Brand />
      <label>
        <span className="visually-hidden">Workspace</span>
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
      <nav aria-label="Pages" ref={menu}>
        <ul>
          {links.map(({ to, name, icon, counts = [] }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                <Icon name={icon} />
                {name}
                <Count of={counts.reduce((sum, each) => sum + (attention?.[each] ?? 0), 0)} />
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

/** The number beside the name of a page. */
function Count({ of }: { of: number }) {
  if (of === 0) return null;
  return <span className="count">{formatAttention(of)}</span>;
}

/** Warns when the data on the page may be out of date. */
function Connection() {
  const state = useLive();
  return (
    <div role="status">
      {state === 'away' && (
        <p className="banner patient">
          Couldn't reach the server. This data may be out of date. The page reconnects
          automatically.
        </p>
      )}
    </div>
  );
}
