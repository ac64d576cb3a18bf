package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/stack"
)

const staffUsage = "list|invite|role|unlock|remove [EMAIL] [FLAGS]"

var staffCommand = stack.Command{
	Name:  "staff",
	Args:  staffUsage,
	Short: "Invite members of the staff, change their roles and remove them",
	Long: `
list              the members with role, last sign-in and whether they have a second factor (--json)
invite EMAIL      mail a link to the desk and give the account a role; --link prints the link instead
role EMAIL        change the role: --role reviewer (reports), editor (resources) or owner (everything)
unlock EMAIL      remove a lost second factor: the member's sessions end, and the next sign-in adds a new factor
remove EMAIL      take the role away; the member's sessions end at once

  daawo staff invite hodan@example.org --role reviewer
  daawo staff role hodan@example.org --role owner`,
	Run: withClient("staff", staffUsage, map[string]verb{
		"list": {0, listStaff}, "invite": {1, inviteMember}, "role": {1, changeRole}, "unlock": {1, unlockMember},
		"remove": {1, removeMember},
	}),
}

func listStaff(call *stack.Call) (check func() error, do work) {
	asJSON := call.Flags().Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, c *Client) error {
		list, err := c.Staff(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(call.Stdout(), list)
		}
		t := tabwriter.NewWriter(call.Stdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "EMAIL\tROLE\tSECOND FACTOR\tLAST SIGN-IN\tSESSIONS")
		for _, m := range list {
			last := "never"
			if m.LastSignInAt != nil {
				last = m.LastSignInAt.Local().Format(time.DateTime)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\n", shorten(m.Email, 60), m.Role, yes(m.HasFactor), last, m.Sessions)
		}
		return t.Flush()
	}
}

// roleFlag declares --role and returns it with its check.
func roleFlag(call *stack.Call) (role *string, check func() error) {
	role = call.Flags().String("role", "", "`role`: "+strings.Join(roles, ", "))
	return role, func() error {
		if !slices.Contains(roles, *role) {
			return stack.Usagef("--role must be one of %s", strings.Join(roles, ", "))
		}
		return nil
	}
}

func inviteMember(call *stack.Call) (check func() error, do work) {
	role, check := roleFlag(call)
	asLink := call.Flags().Bool("link", false, "print a one-time link and send no mail")
	return check, func(ctx context.Context, c *Client) error {
		email := call.Arguments()[0]
		if *asLink {
			link, err := c.InviteLink(ctx, email, *role)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(call.Stdout(), link)
			return err
		}
		mailed, err := c.Invite(ctx, email, *role)
		if err != nil {
			return err
		}
		if mailed {
			_, err = fmt.Fprintf(call.Stdout(), "%s is invited as %s; the link in the mail is valid once\n", email,
				*role)
		} else {
			_, err = fmt.Fprintf(call.Stdout(), "%s has an account and is now %s; no mail was sent\n", email, *role)
		}
		return err
	}
}

func changeRole(call *stack.Call) (check func() error, do work) {
	role, check := roleFlag(call)
	return check, func(ctx context.Context, c *Client) error {
		return changeMember(ctx, c, call, *role, "is now "+*role)
	}
}

func unlockMember(call *stack.Call) (check func() error, do work) {
	return nil, func(ctx context.Context, c *Client) error {
		m, err := c.Member(ctx, call.Arguments()[0])
		if err != nil {
			return err
		}
		if err := c.RemoveFactors(ctx, m.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintln(call.Stdout(), m.Email, "has no second factor now; the sessions have ended")
		return err
	}
}

func removeMember(call *stack.Call) (check func() error, do work) {
	return nil, func(ctx context.Context, c *Client) error {
		return changeMember(ctx, c, call, "", "is removed; the sessions have ended")
	}
}

// changeMember changes the role of the member that the command names, and prints the result.
func changeMember(ctx context.Context, c *Client, call *stack.Call, role, result string) error {
	m, err := c.Member(ctx, call.Arguments()[0])
	if err != nil {
		return err
	}
	if err := c.SetRole(ctx, m.ID, role); err != nil {
		return err
	}
	_, err = fmt.Fprintln(call.Stdout(), m.Email, result)
	return err
}
