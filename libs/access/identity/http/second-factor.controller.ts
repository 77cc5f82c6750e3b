import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { type Account, Auth, CurrentAccount } from '../access/decorators.js';
import { SecondFactors, type SecondFactorView } from '../auth/second-factors.js';
import {
  NewSecondFactorDto,
  RecoveryCodesDto,
  SecondFactorCodeDto,
  SecondFactorDto,
  StartSecondFactorDto,
} from './second-factor.dto.js';

@ApiTags('auth')
@Controller('auth/second-factor')
@Auth({ workspace: false })
export class SecondFactorController {
  constructor(private readonly factors: SecondFactors) {}

  @Get()
  @ApiOperation({ operationId: 'getSecondFactor', summary: 'Get the state of my second factor' })
  @ApiOkResponse({ type: SecondFactorDto })
  get(@CurrentAccount() { userId }: Account): Promise<SecondFactorView> {
    return this.factors.get(userId);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ operationId: 'startSecondFactor', summary: 'Start to set up my second factor' })
  @ApiOkResponse({ type: NewSecondFactorDto })
  @ApiErrors('validation_failed', 'invalid_credentials', 'second_factor_enabled', 'rate_limited')
  start(
    @CurrentAccount() account: Account,
    @Body() { password }: StartSecondFactorDto,
  ): Promise<NewSecondFactorDto> {
    return this.factors.begin(account, password);
  }

  @Post('complete')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'completeSecondFactor',
    summary: 'Enable my second factor by a code, and end all my other sessions',
  })
  @ApiOkResponse({ type: RecoveryCodesDto })
  @ApiErrors('validation_failed', 'invalid_code', 'second_factor_off', 'rate_limited')
  async complete(
    @CurrentAccount() account: Account,
    @Body() { code }: SecondFactorCodeDto,
  ): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.factors.complete(account, code) };
  }

  @Post('recovery-codes')
  @HttpCode(200)
  @ApiOperation({ operationId: 'replaceRecoveryCodes', summary: 'Replace my recovery codes' })
  @ApiOkResponse({ type: RecoveryCodesDto })
  @ApiErrors('validation_failed', 'invalid_code', 'second_factor_off', 'rate_limited')
  async replaceRecoveryCodes(
    @CurrentAccount() account: Account,
    @Body() { code }: SecondFactorCodeDto,
  ): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.factors.replaceRecoveryCodes(account, code) };
  }

  @Post('remove')
  @HttpCode(204)
  @ApiOperation({ operationId: 'removeSecondFactor', summary: 'Remove my second factor' })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'invalid_code', 'second_factor_off', 'rate_limited')
  remove(@CurrentAccount() account: Account, @Body() { code }: SecondFactorCodeDto): Promise<void> {
    return this.factors.remove(account, code);
  }
}
