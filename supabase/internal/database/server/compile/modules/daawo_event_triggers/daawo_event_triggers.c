/*
 * daawo_event_triggers lets the role postgres own event triggers, and keeps their functions away
 * from roles with more rights. Postgres itself lets only superusers create event triggers, because
 * the function of one runs in every session, also in that of a superuser.
 *
 * A function of an event trigger runs only if its owner may act as the current user and as the
 * session user. So a superuser's statements, and the scripts of trusted extensions, which run as a
 * superuser, never call a function of another owner.
 *
 * It is loaded by shared_preload_libraries.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_event_trigger.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_func.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

/* The role that owns event triggers without being a superuser. */
static const char *const project_role = "postgres";

static needs_fmgr_hook_type next_needs_fmgr;
static fmgr_hook_type next_fmgr;
static ProcessUtility_hook_type next_utility;

/*
 * The user who runs the innermost utility statement, or InvalidOid outside one. The current user is
 * another one when a function with SECURITY DEFINER begins.
 */
static Oid	statement_user = InvalidOid;

/* may_act_as reports whether a member has the rights of a role, or can set it. */
static bool
may_act_as(Oid member, Oid role)
{
	return has_privs_of_role(member, role) || member_can_set_role(member, role);
}

/*
 * event_trigger_owner returns the owner of a function, or InvalidOid if it is no function of event
 * triggers.
 */
static Oid
event_trigger_owner(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (proc->prorettype == EVENT_TRIGGEROID)
			owner = proc->proowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/*
 * needs_fmgr reports whether calls of a function go through on_call. Postgres does not ask for
 * functions with SECURITY DEFINER or SET, whose calls go there anyway.
 */
static bool
needs_fmgr(Oid function)
{
	return OidIsValid(event_trigger_owner(function)) || (next_needs_fmgr && next_needs_fmgr(function));
}

static Datum
do_nothing(PG_FUNCTION_ARGS)
{
	return PointerGetDatum(NULL);
}

/* on_call takes the place of a function that must not run. */
static void
on_call(FmgrHookEventType event, FmgrInfo *info, Datum *private)
{
	if (event == FHET_START)
	{
		Oid			owner = event_trigger_owner(info->fn_oid);
		Oid			user = OidIsValid(statement_user) ? statement_user : GetUserId();

		if (OidIsValid(owner) && !(may_act_as(owner, user) && may_act_as(owner, GetSessionUserId())))
			info->fn_addr = do_nothing;
	}
	if (next_fmgr)
		next_fmgr(event, info, private);
}

/* set_owner sets the owner of an event trigger. Postgres' own function takes superusers only. */
static void
set_owner(const char *name, Oid owner)
{
	Relation	catalog = table_open(EventTriggerRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(EVENTTRIGGERNAME, CStringGetDatum(name));
	Form_pg_event_trigger trigger;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("event trigger \"%s\" does not exist", name));
	trigger = (Form_pg_event_trigger) GETSTRUCT(tuple);
	if (trigger->evtowner != owner)
	{
		trigger->evtowner = owner;
		CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
		changeDependencyOnOwner(EventTriggerRelationId, trigger->oid, owner);
		InvokeObjectPostAlterHook(EventTriggerRelationId, trigger->oid, 0);
	}
	heap_freetuple(tuple);
	table_close(catalog, RowExclusiveLock);
	CommandCounterIncrement();
}

/* project_role_acts reports whether the current user is no superuser and may act as postgres. */
static bool
project_role_acts(void)
{
	Oid			role = get_role_oid(project_role, true);

	return !superuser() && OidIsValid(role) && has_privs_of_role(GetUserId(), role);
}

/*
 * check_trigger returns an error for an event trigger that the current user may not create, and
 * qualifies the name of its function, which a superuser could resolve to another one.
 */
static void
check_trigger(CreateEventTrigStmt *stmt)
{
	Oid			function = LookupFuncName(stmt->funcname, 0, NULL, false);
	HeapTuple	tuple;
	Form_pg_proc proc;

	/* One that fails would lock all users out. */
	if (strcmp(stmt->eventname, "login") == 0)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("permission denied to create event trigger \"%s\"", stmt->trigname),
				errhint("Only a superuser can create an event trigger for logins."));
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (!has_privs_of_role(GetUserId(), proc->proowner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FUNCTION, NameStr(proc->proname));
	stmt->funcname = list_make2(makeString(get_namespace_name(proc->pronamespace)),
								makeString(pstrdup(NameStr(proc->proname))));
	ReleaseSysCache(tuple);
}

/* The arguments of a hook of utility statements. */
typedef struct Utility
{
	PlannedStmt *statement;
	const char *text;
	bool		read_only;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *environment;
	DestReceiver *to;
	QueryCompletion *completion;
} Utility;

/* run runs a statement as Postgres does. */
static void
run(Utility *u)
{
	Oid			outer = statement_user;

	statement_user = GetUserId();
	PG_TRY();
	{
		(next_utility ? next_utility : standard_ProcessUtility) (u->statement, u->text, u->read_only, u->context,
																  u->params, u->environment, u->to, u->completion);
	}
	PG_FINALLY();
	{
		statement_user = outer;
	}
	PG_END_TRY();
}

/* create_trigger creates an event trigger as a superuser, for the current user. */
static void
create_trigger(Utility *u)
{
	CreateEventTrigStmt *stmt;
	Oid			user;
	int			security;

	u->statement = copyObject(u->statement);
	stmt = (CreateEventTrigStmt *) u->statement->utilityStmt;
	check_trigger(stmt);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, security | SECURITY_LOCAL_USERID_CHANGE);
	PG_TRY();
	{
		run(u);
	}
	PG_FINALLY();
	{
		SetUserIdAndSecContext(user, security);
	}
	PG_END_TRY();
	CommandCounterIncrement();
	set_owner(stmt->trigname, user);
}

/* gives_trigger reports whether a superuser gives an event trigger to postgres, as dumps do. */
static bool
gives_trigger(Node *node)
{
	return IsA(node, AlterOwnerStmt) && ((AlterOwnerStmt *) node)->objectType == OBJECT_EVENT_TRIGGER && superuser() &&
		get_rolespec_oid(((AlterOwnerStmt *) node)->newowner, false) == get_role_oid(project_role, true);
}

static void
utility(PlannedStmt *statement, const char *text, bool read_only, ProcessUtilityContext context, ParamListInfo params,
		QueryEnvironment *environment, DestReceiver *to, QueryCompletion *completion)
{
	Utility		u = {statement, text, read_only, context, params, environment, to, completion};
	Node	   *node = statement->utilityStmt;

	if (IsA(node, CreateEventTrigStmt) && project_role_acts())
		create_trigger(&u);
	else if (gives_trigger(node))
		set_owner(strVal(((AlterOwnerStmt *) node)->object), get_role_oid(project_role, false));
	else
		run(&u);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		ereport(ERROR, errmsg("daawo_event_triggers must be in shared_preload_libraries"));
	next_needs_fmgr = needs_fmgr_hook;
	needs_fmgr_hook = needs_fmgr;
	next_fmgr = fmgr_hook;
	fmgr_hook = on_call;
	next_utility = ProcessUtility_hook;
	ProcessUtility_hook = utility;
}
