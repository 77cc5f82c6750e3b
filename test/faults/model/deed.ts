import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Model } from './state.js';
import { expectedLook } from './look.js';
import { misplaced, type World } from './world.js';

export type ModelCommand = fc.AsyncCommand<Model, World>;

/** A deed changes the model and the world, and then compares the two. */
export class Deed implements ModelCommand {
  constructor(
    private readonly name: string,
    private readonly isPossible: (model: Readonly<Model>) => boolean,
    private readonly happen: (model: Model, world: World) => Promise<void>,
  ) {}

  check(model: Readonly<Model>): boolean {
    return this.isPossible(model);
  }

  async run(model: Model, world: World): Promise<void> {
    await this.happen(model, world);
    await world.lengthenWaits();
    expect(await world.look()).toEqual(expectedLook(model));
    expect(misplaced(model, await world.queue())).toEqual([]);
    await world.checkNowAndThen();
  }

  toString(): string {
    return this.name;
  }
}

export const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
export const hasTasks = (model: Readonly<Model>): boolean => model.tasks.length > 0;
export const hasRuns = (model: Readonly<Model>): boolean => model.runs.length > 0;
export const hasAgents = (model: Readonly<Model>): boolean => model.agents.length > 0;

export const index = fc.nat({ max: 50 });

export const often = <T>(count: number, deed: T): T[] => Array.from({ length: count }, () => deed);
