export * from './prompt/compose-prompt.js';
export * from './session/agent-session.js';
