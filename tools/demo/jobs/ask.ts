// Stands for work with a model: it reports used tokens, and uses none.
import { ASKED_MODEL, USED_TOKENS } from '../settings.js';
import { say } from './support.js';

const outputTokens = 500;
say({ usage: { model: ASKED_MODEL, inputTokens: USED_TOKENS - outputTokens, outputTokens } });
