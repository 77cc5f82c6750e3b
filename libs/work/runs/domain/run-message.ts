export const DELIVERIES = ['turn_end', 'interrupt'] as const;
/** When the agent hears a message: after its turn, or instead of the rest of its turn. */
export type Delivery = (typeof DELIVERIES)[number];

export const MESSAGE_STATES = ['waiting', 'delivered', 'undelivered'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** In characters. */
export const MAX_MESSAGE = 16_000;
/** Of the data of a message, as JSON. */
export const MAX_MESSAGE_DATA = 16_000;
/** Of people, to one run. */
export const MAX_MESSAGES = 1_000;
/** The form of a message's type. */
export const MESSAGE_TYPE = /^[a-z][a-z0-9_.-]*$/;
export const PLAIN_MESSAGE = 'message';
/** The type of an answer to a question for which the run waits. */
export const ANSWER = 'answer';

/** A message as a person sends it. */
export interface MessageRequest {
  /** Default: `message`. */
  type?: string;
  /** Empty only in a message of files alone. */
  text: string;
  data?: Record<string, unknown>;
  deliver: Delivery;
}

/** A message in the API. RunMessageDto describes its fields. */
export interface RunMessageView {
  id: string;
  runId: string;
  position: number;
  type: string;
  text: string;
  data: unknown;
  deliver: Delivery;
  questionId: string | null;
  sender: string;
  state: MessageState;
  sentAt: string;
  deliveredAt: string | null;
}
