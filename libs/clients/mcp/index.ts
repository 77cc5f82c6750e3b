export { answerMcp, type McpRequest } from './http.js';
export { createMcpServer, type McpOptions } from './server.js';
export { serveMcpOverStdio } from './stdio.js';
export type { McpCaller } from './tool.js';
