import { createHash, createSign, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';

const file = (name: string) => readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
const key = file('idp-key.pem');
const certificate = file('idp-cert.pem')
  .replace(/-----[A-Z ]+-----/g, '')
  .replace(/\s/g, '');

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/** A SAML identity provider. It writes XML in its canonical form, so it needs no library to sign. */
export class IdentityProvider {
  readonly entityID = `https://idp.example.edu/${randomUUID()}`;

  metadata(): string {
    return (
      `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${this.entityID}">` +
      '<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">' +
      '<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>' +
      `<ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>` +
      '<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" ' +
      `Location="${this.entityID}/sso"/></md:IDPSSODescriptor></md:EntityDescriptor>`
    );
  }

  /** The form that the browser posts after the user with this address has signed in. */
  answer(requestURL: string, email: string): { action: string; form: URLSearchParams } {
    const query = new URL(requestURL).searchParams;
    const request = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString();
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]+)"`).exec(request)?.[1] ?? '';
    const audience = /<saml:Issuer[^>]*>([^<]+)</.exec(request)?.[1] ?? '';
    const action = attribute('AssertionConsumerServiceURL');
    const response = this.response(attribute('ID'), action, audience, email);
    return {
      action,
      form: new URLSearchParams({
        SAMLResponse: Buffer.from(response).toString('base64'),
        RelayState: query.get('RelayState') ?? '',
      }),
    };
  }

  private response(request: string, action: string, audience: string, email: string): string {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const id = `_${randomUUID()}`;
    const begin =
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" ` +
      `IssueInstant="${at(0)}" Version="2.0"><saml:Issuer>${this.entityID}</saml:Issuer>`;
    const rest =
      '<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">' +
      `${email}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">` +
      `<saml:SubjectConfirmationData InResponseTo="${request}" NotOnOrAfter="${at(60)}" ` +
      `Recipient="${action}"></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>` +
      `<saml:Conditions NotBefore="${at(-5)}" NotOnOrAfter="${at(60)}"><saml:AudienceRestriction>` +
      `<saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
      `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionNotOnOrAfter="${at(3600)}"><saml:AuthnContext>` +
      '<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef>' +
      '</saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="mail">' +
      `<saml:AttributeValue>${email}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>`;
    return (
      `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Destination="${action}" ` +
      `ID="_${randomUUID()}" InResponseTo="${request}" IssueInstant="${at(0)}" Version="2.0">` +
      '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>' +
      `${begin}${signature(id, begin + rest)}${rest}</samlp:Response>`
    );
  }
}

/** The signature of an element, given in its canonical form. */
function signature(id: string, element: string): string {
  const digest = createHash('sha256').update(element).digest('base64');
  const info = (namespace: string) =>
    `<ds:SignedInfo${namespace}><ds:CanonicalizationMethod Algorithm="${exclusive}"></ds:CanonicalizationMethod>` +
    '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></ds:SignatureMethod>' +
    `<ds:Reference URI="#${id}"><ds:Transforms>` +
    '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></ds:Transform>' +
    `<ds:Transform Algorithm="${exclusive}"></ds:Transform></ds:Transforms>` +
    '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>' +
    `<ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const ds = ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
  const value = createSign('RSA-SHA256').update(info(ds)).sign(key, 'base64');
  return `<ds:Signature${ds}>${info('')}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`;
}
