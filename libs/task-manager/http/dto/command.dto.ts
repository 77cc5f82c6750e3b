import { Flag, IdList, Text } from '#lib/http';

export class CommandDto {
  @Text({ max: 1000, optional: true, example: 'Requirements changed' })
  reason?: string;
}

export class CancelDto extends CommandDto {
  @Flag({ optional: true, description: 'Everything that depends on the task is cancelled with it' })
  cascade?: boolean;
}

export class BulkIdsDto extends CommandDto {
  @IdList({ minItems: 1, maxItems: 1000, optional: true })
  ids?: string[];
}
