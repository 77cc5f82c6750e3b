import { Controller, Delete, HttpCode } from '@nestjs/common';
import { ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { type Account, Auth, CurrentAccount } from '../access/decorators.js';
import { SecondFactors } from '../auth/second-factors.js';

@ApiTags('users')
@Controller('users')
@Auth({ workspace: false, operator: true })
export class UserSecondFactorController {
  constructor(private readonly factors: SecondFactors) {}

  @Delete(':id/second-factor')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'resetUserSecondFactor',
    summary: 'Remove the second factor of a user and end their sessions (operators)',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'second_factor_off')
  reset(
    @CurrentAccount() account: Account,
    @UuidParam('id', { whole: true }) id: string,
  ): Promise<void> {
    return this.factors.reset(account, id);
  }
}
