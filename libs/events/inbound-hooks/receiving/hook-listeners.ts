import { Injectable } from '@nestjs/common';
import type { HookKind } from '../domain/signature.js';

/** A library that wants to know of events beside the rules of their hooks. */
export interface HookListener {
  /**
   * It can be called again for the same event.
   *
   * @param payload of a signed event; its sender chose it
   * @returns the task that the event is about, if there is one
   */
  hear(workspaceId: string, kind: HookKind, payload: unknown): Promise<string | undefined>;
}

/** The libraries that hear of signed events. */
@Injectable()
export class HookListeners {
  private readonly listeners: HookListener[] = [];

  add(listener: HookListener): void {
    this.listeners.push(listener);
  }

  /** @returns the task that the event is about, if a listener knows one */
  async hear(workspaceId: string, kind: HookKind, payload: unknown): Promise<string | undefined> {
    for (const listener of this.listeners) {
      const taskId = await listener.hear(workspaceId, kind, payload);
      if (taskId !== undefined) return taskId;
    }
    return undefined;
  }
}
