import {
  Flag,
  WholeId,
  Int,
  JsonObject,
  Nested,
  NestedList,
  OneOf,
  Text,
  TextList,
  Timestamp,
} from '#lib/http';
import {
  CREDENTIAL_SCHEMES,
  HEADER_NAME,
  HEADER_VALUE,
  type HostCredential,
  MAX_HOST_PATTERN,
  ONE_HOST,
} from '#lib/kernel';

/** The characters of one argument. The kernel accepts no longer one. */
const ARGUMENT = { min: 0, max: 131_071 };
const LONGEST_RUN_SECONDS = 31_536_000;

/** The answer to a question that a run of the task asked. */
export class SpawnAnswerDto {
  @WholeId() questionId!: string;
  @Text({ max: 10_000 }) prompt!: string;
  @Text({ max: 10_000 }) answer!: string;
  @Text({ max: 1_000, optional: true, nullable: true }) answeredBy?: string | null;
  @Flag() byDefault!: boolean;
  @Timestamp() answeredAt!: string;
}

/** A header that the proxy of the session adds to its requests to a host. */
export class SpawnCredentialDto implements HostCredential {
  @Text({ max: MAX_HOST_PATTERN, pattern: { regexp: ONE_HOST, words: 'be a host in lower case' } })
  host!: string;
  @OneOf(CREDENTIAL_SCHEMES) scheme!: HostCredential['scheme'];
  @Text({ max: 100, pattern: { regexp: HEADER_NAME, words: 'be a header in lower case' } })
  header!: string;
  @Text({ max: 8_000, pattern: { regexp: HEADER_VALUE, words: 'be printable ASCII' } })
  value!: string;
}

export class SpawnContextDto {
  @Text({ min: 0, max: 10_000 }) taskTitle!: string;
  @Text({ min: 0, max: 1_000_000, optional: true, nullable: true })
  taskDescription?: string | null;
  @JsonObject({ optional: true, nullable: true })
  inputContext?: Record<string, unknown> | null;
  @JsonObject({ optional: true, nullable: true })
  checkpointData?: Record<string, unknown> | null;
  @NestedList(() => SpawnAnswerDto, { maxItems: 100, optional: true })
  answers?: SpawnAnswerDto[];
}

/**
 * `POST /agents/spawn`: a session for a run, with all of `runId`, `generation`, `runToken` and
 * `apiUrl`; or for a task without a run, with none of them.
 */
export class SpawnAgentDto {
  @WholeId() workspaceId!: string;
  @WholeId() agentId!: string;
  @WholeId() taskId!: string;
  @WholeId({ optional: true }) runId?: string;
  @Text({ max: 1_000 }) label!: string;
  @Nested(() => SpawnContextDto) context!: SpawnContextDto;
  @Int(1, 2_147_483_647, { optional: true }) generation?: number;
  @Text({ max: 8_192, optional: true }) runToken?: string;
  @Text({
    max: 2_048,
    optional: true,
    pattern: { regexp: /^https?:\/\/\S+$/, words: 'be an http(s) URL' },
  })
  apiUrl?: string;
  @TextList({ item: ARGUMENT, minItems: 1, maxItems: 1_000, optional: true }) command?: string[];
  @JsonObject({ optional: true }) secrets?: Record<string, unknown>;
  @NestedList(() => SpawnCredentialDto, { maxItems: 1_000, optional: true })
  credentials?: SpawnCredentialDto[];
  @Int(1, LONGEST_RUN_SECONDS, { optional: true, nullable: true })
  timeoutSeconds?: number | null;
  @Int(0, 3_600, { optional: true }) graceSeconds?: number;
  @JsonObject({ optional: true }) metadata?: Record<string, unknown>;
  @TextList({ item: { max: 200 }, maxItems: 1_000, optional: true }) capabilities?: string[];
}

/** `POST /sessions/spawn`: a session without a run. */
export class SpawnSessionDto {
  @Text({ max: 1_000 }) sessionLabel!: string;
  @TextList({ item: ARGUMENT, minItems: 1, maxItems: 1_000, optional: true }) command?: string[];
  @Text({ max: 1_000_000, optional: true }) prompt?: string;
  @Text({ max: 200, optional: true }) model?: string;
  @Text({ max: 200, optional: true }) thinking?: string;
  @Text({ max: 200, optional: true }) channel?: string;
  /** Only true: a session starts as soon as a slot is free. */
  @Flag({ optional: true }) autoStart?: boolean;
  @JsonObject({ optional: true }) env?: Record<string, unknown>;
  @Int(1, LONGEST_RUN_SECONDS, { optional: true, nullable: true })
  timeoutSeconds?: number | null;
  @Int(0, 3_600, { optional: true }) graceSeconds?: number;
  @JsonObject({ optional: true }) metadata?: Record<string, unknown>;
}
