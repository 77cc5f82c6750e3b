/** The house's arrows: they only point down. Libraries see each other through their index.ts alone. */
const LAYERS = [
  ['kernel', 'env'],
  [
    'config',
    'database',
    'valkey',
    'observability',
    'local-servers',
    'session-runtime',
    'agent-kinds',
    'model-proxy',
    'api-client',
  ],
  ['http', 'agent-host', 'agent-sessions', 'mcp', 'progress', 'git', 'forges'],
  ['identity'],
  ['transitions', 'journal', 'audit'],
  ['secrets', 'admission'],
  ['projects'],
  ['ledger'],
  ['models', 'model-providers', 'host-credentials', 'repositories'],
  ['provider-limits', 'budgets'],
  ['usage-budget'],
  ['agent-manager', 'webhooks', 'task-traces'],
  ['task-manager'],
  ['runs', 'inbound-hooks', 'schedules'],
  ['questions', 'artifacts'],
  ['changes'],
  ['prompts'],
  ['explain', 'coordinator', 'invariants', 'event-streams', 'runtime-views'],
];

const upward = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `no-upward-arrow-from-${layer.join('-')}`,
  comment: 'A library may use only what lies below it.',
  severity: 'error',
  from: { path: `^libs/[^/]+/(${layer.join('|')})/`, pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
  to: {
    path: `^libs/[^/]+/(${LAYERS.slice(index + 1)
      .flat()
      .join('|')})/`,
  },
}));

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'libraries-through-their-index',
      comment:
        'Import #lib/<name>, #lib/<name>/domain or #lib/env/node; what their index.ts does not export is not for others.',
      severity: 'error',
      from: {
        path: '^(libs/[^/]+/([^/]+)|apps|tools)/',
        pathNot: '\\.(int-|e2e-)?spec\\.ts$|/testing/',
      },
      to: {
        path: '^libs/[^/]+/[^/]+/.+',
        pathNot: ['^libs/[^/]+/[^/]+/(domain/|node/)?index\\.ts$', '^libs/[^/]+/$2/'],
      },
    },
    {
      name: 'libraries-know-no-app',
      severity: 'error',
      from: { path: '^libs/', pathNot: '\\.(int-|e2e-)?spec\\.ts$|/testing/' },
      to: { path: '^(apps|tools|test)/' },
    },
    {
      name: 'worker-stands-alone',
      comment: 'The worker runs on other machines: no database, no Nest.',
      severity: 'error',
      from: { path: '^apps/worker/', pathNot: '\\.(int-)?spec\\.ts$' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|env/|session-runtime/|agent-host/|agent-kinds/|agent-sessions/|model-proxy/|progress/|api-client/|git/|forges/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'command-line-asks-the-api',
      comment: 'What it misses is added to the API.',
      severity: 'error',
      from: { path: '^apps/cli/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|agent-host/|agent-kinds/|api-client/|mcp/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'gateway-knows-no-database',
      comment: 'The gateway runs on other machines: it remembers in files, and asks the server.',
      severity: 'error',
      from: { path: '^apps/gateway/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|env/|session-runtime/|agent-host/|agent-kinds/|model-proxy/|api-client/|http/|observability/)|node_modules/(pg|@prisma)/',
      },
    },
    {
      name: 'dashboard-knows-the-client-only',
      comment: 'The dashboard runs in browsers, and speaks the public API.',
      severity: 'error',
      from: { path: '^apps/dashboard/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs/[^/]+/(?!api-client/)|apps/(?!dashboard/)|tools/|test/)' },
    },
    {
      name: 'session-runtime-stands-alone',
      comment: 'Worker and gateway use it on other machines: no Nest, no database.',
      severity: 'error',
      from: { path: '^libs/hosts/session-runtime/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|env/|session-runtime/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'agent-kinds-stand-alone',
      comment:
        'Hosts and programs use them on other machines, in front of any way to run sessions.',
      severity: 'error',
      from: { path: '^libs/agents/agent-kinds/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|agent-kinds/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'agent-host-stands-alone',
      comment: 'Worker and gateway share it: no Nest, no database.',
      severity: 'error',
      from: { path: '^libs/hosts/agent-host/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|env/|session-runtime/|agent-host/|agent-kinds/|model-proxy/|api-client/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'git-stands-alone',
      comment: 'Hosts use it on other machines, and without a server: no Nest, no database.',
      severity: 'error',
      from: { path: '^libs/code/git/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: {
        path: '^libs/[^/]+/(?!kernel/|session-runtime/|git/)|node_modules/(@nestjs|pg|@prisma)/',
      },
    },
    {
      name: 'only-workers-run-git',
      comment: 'A server runs no git and asks no forge: hosts do, with steps that have leases.',
      severity: 'error',
      from: {
        path: '^(apps|libs|tools)/',
        pathNot: '^apps/worker/|^libs/code/(git|forges)/|\\.(int-|e2e-)?spec\\.ts$|/testing/',
      },
      to: { path: '^libs/code/(git/|forges/(?!domain/))' },
    },
    {
      name: 'forges-stand-alone',
      comment: 'Hosts use them on other machines: no Nest, no database.',
      severity: 'error',
      from: { path: '^libs/code/forges/', pathNot: '\\.(int-)?spec\\.ts$|/testing/' },
      to: { path: '^libs/[^/]+/(?!kernel/|forges/)|node_modules/(@nestjs|pg|@prisma)/' },
    },
    {
      name: 'api-client-stands-alone',
      comment:
        'It is packed by itself, and runs in browsers: nothing of the house, no module of Node.',
      severity: 'error',
      from: { path: '^libs/clients/api-client/', pathNot: '\\.(int-)?spec\\.ts$' },
      to: { pathNot: '^libs/clients/api-client/|node_modules/openapi-fetch/' },
    },
    {
      name: 'mcp-knows-the-client-alone',
      comment: 'A tool asks the public API and nothing else, also where it runs within the server.',
      severity: 'error',
      from: { path: '^libs/clients/mcp/', pathNot: '\\.(int-)?spec\\.ts$' },
      to: { path: '^libs/[^/]+/(?!api-client/|mcp/)|node_modules/(@nestjs|pg|@prisma)/' },
    },
    {
      name: 'domain-knows-domains-alone',
      comment:
        'Import #lib/<name>/domain: the rest of a library brings Nest and the database along.',
      severity: 'error',
      from: { path: '^libs/[^/]+/[^/]+/domain/', pathNot: '\\.(int-)?spec\\.ts$' },
      to: {
        path: '^libs/[^/]+/(?!kernel/)[^/]+/',
        pathNot: '/domain/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'domain-does-no-io',
      comment: 'What decides is pure: no Nest, no database, no Node modules.',
      severity: 'error',
      from: { path: '^libs/[^/]+/[^/]+/domain/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^libs/[^/]+/(database|valkey|http|identity|observability)/|node_modules/(@nestjs|pg|iovalkey)/',
        pathNot: '/domain/',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'libs/platform/database/generated|^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
    },
  },
};
