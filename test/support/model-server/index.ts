export type { Conversation, Failure, Script, ScriptedCall, ServedUsage, Turn } from './script.js';
export { type ModelServer, type SeenRequest, startModelServer } from './model-server.js';
