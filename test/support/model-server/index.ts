export type { Conversation, Failure, Script, ScriptedCall, ServedUsage, Turn } from './script.js';
export { type ModelServer, type SeenRequest, startModelServer, sumOf } from './model-server.js';
