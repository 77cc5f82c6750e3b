import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
} from '@tanstack/react-router';
import { loadPalette } from './components/load-palette.js';
import { Empty, Page } from './components/parts.js';
import { parseId, stringifySearch } from './domain/addresses.js';
import { parseCostSearch } from './domain/change-costs.js';
import { parseGroup } from './domain/changes.js';
import { parseNewTask } from './domain/task-draft.js';
import { parseFilter, parseText } from './domain/task-filter.js';
import { parseUsageSearch } from './domain/usage-search.js';
import { Shell } from './shell.js';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Addresses of things can have words before the id. See `nameInPath`. */
const OF_ID = { parse: ({ id }: { id: string }) => ({ id: parseId(id) }) };

// The first page is loaded alone; see loadAllPages.
const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/overview.js'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks',
    validateSearch: parseFilter,
    component: lazyRouteComponent(() => import('./pages/tasks.js'), 'TasksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks/new',
    validateSearch: parseNewTask,
    component: lazyRouteComponent(() => import('./pages/new-task.js'), 'NewTaskPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/task.js'), 'TaskPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules',
    validateSearch: parseText,
    component: lazyRouteComponent(() => import('./pages/schedules.js'), 'SchedulesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/schedule.js'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/templates',
    component: lazyRouteComponent(() => import('./pages/templates.js'), 'TemplatesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/templates/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/template.js'), 'TemplatePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/dead-letter',
    component: lazyRouteComponent(() => import('./pages/dead-letter.js'), 'DeadLetterPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/agents',
    component: lazyRouteComponent(() => import('./pages/agents.js'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/agents/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/agent.js'), 'AgentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/coordinator',
    component: lazyRouteComponent(() => import('./pages/coordinator.js'), 'CoordinatorPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/budgets',
    component: lazyRouteComponent(() => import('./pages/budgets.js'), 'BudgetsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/questions',
    component: lazyRouteComponent(() => import('./pages/questions.js'), 'QuestionsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reviews',
    validateSearch: parseGroup,
    component: lazyRouteComponent(() => import('./pages/reviews.js'), 'ReviewsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reviews/queue',
    component: lazyRouteComponent(() => import('./pages/merge-queue.js'), 'MergeQueuePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reviews/costs',
    validateSearch: parseCostSearch,
    component: lazyRouteComponent(() => import('./pages/change-costs.js'), 'ChangeCostsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reviews/$id/compare',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/compare.js'), 'ComparePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reviews/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/review.js'), 'ReviewPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/repositories',
    component: lazyRouteComponent(() => import('./pages/repositories.js'), 'RepositoriesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/repositories/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/repository.js'), 'RepositoryPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects',
    component: lazyRouteComponent(() => import('./pages/projects.js'), 'ProjectsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/project.js'), 'ProjectPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/usage',
    validateSearch: parseUsageSearch,
    component: lazyRouteComponent(() => import('./pages/usage.js'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/models',
    component: lazyRouteComponent(() => import('./pages/models.js'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/inbound-hooks',
    component: lazyRouteComponent(() => import('./pages/inbound-hooks.js'), 'InboundHooksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/inbound-hooks/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/inbound-hook.js'), 'InboundHookPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/notices',
    component: lazyRouteComponent(() => import('./pages/notices.js'), 'NoticesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./pages/webhooks.js'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks/$id',
    params: OF_ID,
    component: lazyRouteComponent(() => import('./pages/webhook.js'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/settings.js'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/users',
    component: lazyRouteComponent(() => import('./pages/users.js'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/audit.js'), 'AuditPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  stringifySearch,
  scrollRestoration: true,
});

/**
 * Loads the code of all pages. Otherwise a page that was not visited yet could not be opened while
 * the server is away, or after an upgrade, which replaces the files.
 */
export function loadAllPages(): void {
  void loadPalette().catch(() => undefined);
  for (const { options } of routes) void options.component?.preload?.()?.catch(() => undefined);
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        <p>The address may be mistyped or belong to another version of Drover.</p>
        <Link to="/" className="link">
          Go to the overview
        </Link>
      </Empty>
    </Page>
  );
}
