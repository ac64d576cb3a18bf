import type { SupabaseClient } from '@supabase/supabase-js';
import { check, supabase } from './client';

export interface Factor {
  id: string;
  name: string;
  kind: 'totp' | 'webauthn';
}

export async function listFactors(): Promise<Factor[]> {
  const { data, error } = await (await supabase()).auth.mfa.listFactors();
  check(error);
  return (data?.all ?? [])
    .filter((f) => f.status === 'verified' && (f.factor_type === 'totp' || f.factor_type === 'webauthn'))
    .map((f) => ({ id: f.id, name: f.friendly_name ?? '', kind: f.factor_type as Factor['kind'] }));
}

export interface Enrolment {
  id: string;
  picture: string; // a data: address of the QR code
  secret: string;
}

/** Begins a TOTP factor. Earlier unfinished ones are removed. */
export async function enrolTotp(): Promise<Enrolment> {
  await removeUnfinished('totp');
  const { mfa } = (await supabase()).auth;
  const { data, error } = await mfa.enroll({
    factorType: 'totp',
    friendlyName: `app ${Date.now()}`,
    issuer: 'Daawo desk',
  });
  check(error);
  if (!data) throw new Error('no factor was made');
  return { id: data.id, picture: data.totp.qr_code, secret: data.totp.secret };
}

export async function verifyTotp(factorId: string, code: string) {
  check((await (await supabase()).auth.mfa.challengeAndVerify({ factorId, code })).error);
}

/** Whether this browser and this address allow passkeys: WebAuthn needs a host name. */
export const passkeysWork = () =>
  'PublicKeyCredential' in window && !/^[\d.]+$|:/.test(location.hostname) && window.isSecureContext;

async function removeUnfinished(kind: Factor['kind']) {
  const { mfa } = (await supabase()).auth;
  const { data } = await mfa.listFactors();
  for (const f of data?.all ?? []) {
    if (f.status === 'unverified' && f.factor_type === kind) await mfa.unenroll({ factorId: f.id });
  }
}

/**
 * supabase-js asks for a security key alone. A phone or computer with a fingerprint or a PIN is as
 * good.
 */
const hints: ('client-device' | 'security-key' | 'hybrid')[] = ['client-device', 'security-key', 'hybrid'];

const relyingParty = () => ({ rpId: location.hostname, rpOrigins: [location.origin] });

export async function enrolPasskey() {
  await removeUnfinished('webauthn');
  const { error } = await (await supabase()).auth.mfa.webauthn.register(
    { friendlyName: `passkey ${Date.now()}`, webauthn: relyingParty() },
    // A browser ignores an attachment that it does not know, so every kind of authenticator is
    // allowed.
    { hints, attestation: 'none', authenticatorSelection: { authenticatorAttachment: '' as 'platform' } },
  );
  check(error);
}

export async function verifyPasskey(factorId: string) {
  const { error } = await (await supabase()).auth.mfa.webauthn.authenticate(
    { factorId, webauthn: relyingParty() },
    { hints } as Parameters<SupabaseClient['auth']['mfa']['webauthn']['authenticate']>[1],
  );
  check(error);
}

export async function removeFactor(factorId: string) {
  check((await (await supabase()).auth.mfa.unenroll({ factorId })).error);
}
