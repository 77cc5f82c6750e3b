/** The groups of operations in the OpenAPI document, in its order: every `@ApiTags` names one. */
export const TAGS = {
  auth: 'Users sign in and out, and change their own account.',
  users: 'The users of the installation, for its operators.',
  workspaces:
    'Workspaces, their members, their limits, and the agent tokens that are good in them.',
  'api keys': 'Keys for programs, each for one workspace and good for its scopes.',
  projects: 'Projects and their milestones, which tasks can belong to.',
  Agents: 'Agents register, send heartbeats and claim tasks; users see and end them.',
  Tasks: 'Tasks are made, changed, steered and explained.',
  Runs: 'Agents report how the runs of their tasks go.',
  Questions: 'What runs ask people, and the answers.',
  Models: 'What models cost, which model a task is given, and which their providers refuse.',
  Pauses: 'What is paused for a workspace, for a type of task, or at all.',
  Budgets: 'What workspaces, projects, milestones and tasks may use, and how long it will last.',
  Events: 'What happens in a workspace, as it happens.',
  Usage: 'What was used and what it cost.',
  'Inbound hooks': 'Which events of other systems make tasks, and what came of them.',
  Webhooks: 'Where events are sent, and what came of it.',
  Audit: 'Who has changed what, and who was refused.',
  Coordinator: 'The part that recovers what was lost: its state, its log, and a sweep at once.',
  Gateway: 'Gateways report the sessions that they run.',
  Health: 'For load balancers and people: without credentials.',
};
