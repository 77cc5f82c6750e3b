import type { FieldError } from '#lib/kernel';
import { plainName } from './model-names.js';
import { providerOf } from './providers.js';

/** The models that answer in the place of one that its provider refuses, the first choice first. */
export interface ModelFallbacks {
  model: string;
  models: string[];
}

/** The maximum number of models with fallbacks in a workspace. */
export const MAX_FALLBACKS = 50;
/** The maximum number of fallbacks of one model. */
export const MAX_MODELS = 5;

/** Returns the fallbacks of any version of a model. */
export function fallbacksOf(all: readonly ModelFallbacks[], model: string): readonly string[] {
  const name = plainName(model);
  return all.find((one) => plainName(one.model) === name)?.models ?? [];
}

/** Another provider cannot answer a request, because each has a protocol and a key of its own. */
export function errorsInFallbacks(all: readonly ModelFallbacks[]): FieldError[] {
  const known = new Set<string>();
  return all.flatMap(({ model, models }, index) => {
    const name = plainName(model);
    const provider = providerOf(name);
    const field = `fallbacks[${index}]`;
    const twice = known.has(name) ? [{ field: `${field}.model`, message: 'is named twice' }] : [];
    known.add(name);
    const wrong = models.flatMap((other, position) => {
      const isSame = plainName(other) === name;
      if (!isSame && providerOf(plainName(other)) === provider) return [];
      const message = `must be another model of the same provider as "${model}"`;
      return [{ field: `${field}.models[${position}]`, message }];
    });
    return [...twice, ...wrong];
  });
}
