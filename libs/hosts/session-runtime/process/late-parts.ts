import type { LateParts, SessionSpec } from '../drivers/driver.js';

/** The parts of a session beside its specification, or their promise. */
export function partsOf({ command }: SessionSpec): LateParts | Promise<LateParts> {
  return command instanceof Promise ? command : { command, env: {}, otherFiles: [] };
}

export function isLate(parts: LateParts | Promise<LateParts>): parts is Promise<LateParts> {
  return parts instanceof Promise;
}
